import type { Attempt } from '../../lib/attempt.ts'
import type { CopyLimits, VolumeCopy, VolumeTarget, VolumeWriter } from '../volume.ts'

/** Copies, reads, writes and removes volumes. */
export interface VolumeStore {
  /**
   * Copies volumes as they all were at one moment. Replicas that use them are paused meanwhile and
   * continue afterwards, also if the copy fails or exceeds its limit. Skips volumes that do not
   * exist. Replaces what a copy held before, so nothing may use a copy yet. Returns the number of
   * bytes copied. Throws EngineError.
   */
  copyVolumes(copies: readonly VolumeCopy[], limits: CopyLimits, attempt: Attempt): Promise<number>
  /**
   * Passes an unused volume to `write` as one tar archive, piece by piece: owners, modes, links and
   * the volume's own directory, all below `volume/`. The archive ends with an error if it breaks
   * off or the volume is taken into use meanwhile. Returns the archive's size in bytes. Throws
   * EngineError, `refused` if this installation has no such volume; errors of `write` pass through.
   */
  readVolume(volume: string, write: VolumeWriter, attempt: Attempt): Promise<number>
  /**
   * Recreates the volume for that owner from such an archive. Nothing may use it. Returns the
   * archive's size in bytes. Throws EngineError, `refused` if the archive is incomplete; errors of
   * `archive` pass through. Nothing of the volume is left then, unless it is in use.
   */
  writeVolume(
    volume: string,
    target: VolumeTarget,
    archive: AsyncIterable<Uint8Array>,
    attempt: Attempt,
  ): Promise<number>
  /** Whether this installation has the volume. Throws EngineError. */
  hasVolume(volume: string, signal: AbortSignal): Promise<boolean>
  /** Removes an unused volume of this installation, if it exists. Throws EngineError. */
  removeVolume(volume: string, attempt: Attempt): Promise<void>
  /**
   * Continues every replica that a copy of an earlier process left paused. Returns the names of the
   * continued replicas.
   */
  resume(signal: AbortSignal): Promise<string[]>
}
