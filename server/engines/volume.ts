import { atMost } from '../lib/at-most.ts'
import { sizeText } from '../lib/disk-floor.ts'
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
   * The size of the copied storage, which bounds the copy. Only plans of earlier versions have
   * none.
   */
  readonly sizeGiB: number | undefined
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
 * The bytes that the files of a copied volume may have, holes included. A volume of more bytes on
 * disk stops its service (ADR 0045), so sparse files make no copy larger than other files can.
 */
export const contentLimit = (sizeGiB: number): number => gibibytes(1.5 * sizeGiB)

/** The length of an archive. Headers of many small files may take as much as the files. */
export const archiveLimit = (sizeGiB: number): number => gibibytes(2 * sizeGiB + 1)

/**
 * Passes on the archive of a volume. Throws if it is much longer than its storage, because it would
 * fill the disk of the reader.
 */
export function boundedArchive(archive: AsyncIterable<Uint8Array>, sizeGiB: number): AsyncIterable<Uint8Array> {
  return atMost(archive, archiveLimit(sizeGiB), () => {
    const what = `the archive of a volume of ${sizeGiB} GiB is longer than ${2 * sizeGiB + 1} GiB`
    return new EngineError('refused', `${what}; give its storage a larger size, or delete sparse files in it`)
  })
}

/** The error of a volume whose files are too long in all to be copied. */
export const contentTooLong = (bytes: number, sizeGiB: number): EngineError =>
  new EngineError(
    'refused',
    `the files of a volume of ${sizeGiB} GiB have ${sizeText(bytes)} or more in all, and a copy may take ` +
      `${sizeText(contentLimit(sizeGiB))}: it fills the holes of sparse files. Give its storage a larger size, or ` +
      'delete or shorten sparse files in it',
  )

/** The error of a copy whose limit is over before the volumes are copied. */
export const stoodTooLong = (seconds: number, cause: unknown): EngineError =>
  new EngineError(
    'refused',
    `the services were paused for ${seconds} s, and their volumes were not copied by then; copy them when less is ` +
      'written, stop the services first, or ask the operator to raise QUAYSIDE_COPY_SECONDS',
    { cause },
  )
