import type { Attempt } from '../../lib/attempt.ts'
import type {
  CopyLimits,
  DiskSpace,
  EngineDisk,
  InodeCounts,
  VolumeCopy,
  VolumeTarget,
  VolumeWriter,
} from '../engine.ts'
import { copyVolumes } from './copy-volumes.ts'
import { asEngineErrors } from './engine-errors.ts'
import type { KubeHost } from './host.ts'
import { readVolume } from './read-volume.ts'
import { HeldDeployments, resumeHeld } from './stand-still.ts'
import { assertUnused, findClaim, removeClaim } from './volume-claims.ts'
import { writeVolume } from './write-volume.ts'

/** The volumes and the disk of a cluster. */
export class KubernetesVolumes {
  protected readonly host: KubeHost
  readonly #held = new HeldDeployments()

  constructor(host: KubeHost) {
    this.host = host
  }

  copyVolumes(copies: readonly VolumeCopy[], limits: CopyLimits, attempt: Attempt): Promise<number> {
    return asEngineErrors(() => copyVolumes(this.host, this.#held, { copies, limits }, attempt))
  }

  readVolume(volume: string, write: VolumeWriter, attempt: Attempt): Promise<number> {
    return asEngineErrors(() => readVolume(this.host, volume, write, attempt))
  }

  writeVolume(
    volume: string,
    { sizeGiB, ...owner }: VolumeTarget,
    archive: AsyncIterable<Uint8Array>,
    attempt: Attempt,
  ): Promise<number> {
    return asEngineErrors(() => writeVolume(this.host, { volume, owner, sizeGiB }, archive, attempt))
  }

  hasVolume(volume: string, signal: AbortSignal): Promise<boolean> {
    return asEngineErrors(async () => (await findClaim(this.host, volume, signal)) !== undefined)
  }

  removeVolume(volume: string, { signal }: Attempt): Promise<void> {
    return asEngineErrors(async () => {
      const claim = await findClaim(this.host, volume, signal)
      if (!claim) return
      await assertUnused(this.host, claim, signal)
      await removeClaim(this.host, claim, signal)
    })
  }

  resume(signal: AbortSignal): Promise<string[]> {
    return asEngineErrors(() => resumeHeld(this.host, this.#held, signal))
  }

  /** The platform does not count the disks of a cluster. */
  async disk(_signal: AbortSignal): Promise<EngineDisk> {
    return {
      totalBytes: 0,
      freeBytes: 0,
      images: [],
      volumes: [],
      layers: [],
      runs: [],
      buildCache: { bytes: 0, freeableBytes: 0 },
    }
  }

  async diskSpace(_signal: AbortSignal): Promise<DiskSpace | undefined> {
    return undefined
  }

  async countInodes(_most: number, _signal: AbortSignal): Promise<InodeCounts | undefined> {
    return undefined
  }

  async removeImage(_reference: string, _signal: AbortSignal): Promise<boolean> {
    return false
  }

  async trimBuildCache(_keepBytes: number, _signal: AbortSignal): Promise<number> {
    return 0
  }
}
