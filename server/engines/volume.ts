export interface Volume {
  /** The storage's id: the volume is named by it. */
  readonly id: string
  readonly mountPoint: string
  readonly sizeGiB: number
}

/** Ids of storages, as in `Volume`. */
export interface VolumeCopy {
  readonly from: string
  readonly to: string
  /** Of the volume that is made. */
  readonly owner: VolumeOwner
  /**
   * A program of a replica of this service that prints what the volume holds, as of the moment of its end, as an archive of tar. Of one of
   * the copies it is taken, where it can be had: then the users of that volume do not stand still.
   */
  readonly archive?: { readonly service: string; readonly command: readonly string[] }
}

export interface CopyLimits {
  /** After that everything goes on, and the copy has failed. */
  readonly mostStandingSeconds: number
  /** Told now and then how many bytes were copied. */
  readonly tell?: (bytes: number) => void
}

/** Whose a volume is. */
export interface VolumeOwner {
  readonly service: string
  readonly environment: string
}

/** Takes the archive of a volume, piece by piece and to its end. What throws inside of the archive must come out of it. */
export type VolumeWriter = (archive: AsyncIterable<Uint8Array>) => Promise<void>
