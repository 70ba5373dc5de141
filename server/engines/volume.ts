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

/**
 * Receives the archive of a volume piece by piece, up to its end. Errors thrown by the archive must
 * pass through.
 */
export type VolumeWriter = (archive: AsyncIterable<Uint8Array>) => Promise<void>
