import { atMost } from '../lib/at-most.ts'
import { gibibytes } from '../lib/gibibytes.ts'
import { EngineError } from './engine-error.ts'

export interface Volume {
  /** The storage's id, after which the volume is named. */
  readonly id: string
  readonly mountPoint: string
  readonly sizeGiB: number
}

/** Ids of storages, as in `Volume`. */
export interface VolumeCopy {
  readonly from: string
  readonly to: string
  /** The id of the volume to create. */
  readonly owner: VolumeOwner
  /**
   * A program in a replica of this service that prints the volume's content, as of the moment it
   * ends, as a tar archive. At most one of the copies uses its program, if it works: the users of
   * that volume are then not paused.
   */
  readonly archive?: { readonly service: string; readonly command: readonly string[] }
}

export interface CopyLimits {
  /** After this time every replica continues, and the copy has failed. */
  readonly mostStandingSeconds: number
  /** Called from time to time with the number of bytes copied. */
  readonly tell?: (bytes: number) => void
}

/** The owner of a volume. */
export interface VolumeOwner {
  readonly service: string
  readonly environment: string
}

/** The owner of a volume to create, and its size if it does not exist. */
export interface VolumeTarget extends VolumeOwner {
  readonly sizeGiB: number
}

/**
 * Receives the archive of a volume piece by piece, up to its end. Errors thrown by the archive must
 * pass through.
 */
export type VolumeWriter = (archive: AsyncIterable<Uint8Array>) => Promise<void>

/**
 * Passes on the archive of a volume on an engine that somebody else controls. Throws if it is much
 * longer than its storage, because it would fill the disk of the reader.
 */
export function boundedArchive(archive: AsyncIterable<Uint8Array>, sizeGiB: number): AsyncIterable<Uint8Array> {
  // Headers of many small files may take as much as the files.
  const limitGiB = 2 * sizeGiB + 1
  return atMost(archive, gibibytes(limitGiB), () => {
    const what = `the archive of a volume of ${sizeGiB} GiB is longer than ${limitGiB} GiB`
    return new EngineError('refused', `${what}; give its storage a larger size, or delete sparse files in it`)
  })
}

/** The error of a copy whose limit is over before the volumes are copied. */
export const stoodTooLong = (seconds: number, cause: unknown): EngineError =>
  new EngineError(
    'refused',
    `the services were paused for ${seconds} s, and their volumes were not copied by then; copy them when less is ` +
      'written, stop the services first, or ask the operator to raise QUAYSIDE_COPY_SECONDS',
    { cause },
  )
