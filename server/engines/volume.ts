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
  /**
   * A program of a replica of this service that prints what the volume holds, as of one moment, as an archive of tar. Where it can be had, it
   * is taken, and nothing stands still.
   */
  readonly archive?: { readonly service: string; readonly command: readonly string[] }
}

/** Whose a volume is. */
export interface VolumeOwner {
  readonly service: string
  readonly environment: string
}
