/** The capacity of the file system that holds the engine's data. */
export interface DiskSpace {
  readonly totalBytes: number
  readonly freeBytes: number
  /** 0: the file system creates inodes as needed. */
  readonly totalInodes: number
  readonly freeInodes: number
}

/** Inodes used by this installation. A count above the limit of the call is not exact. */
export interface InodeCounts {
  readonly volumes: readonly { readonly id: string; readonly inodes: number }[]
  readonly layers: readonly { readonly service: string; readonly release: string; readonly inodes: number }[]
  readonly runs: readonly { readonly service: string; readonly run: string; readonly inodes: number }[]
}

/** The engine's disk, in bytes. */
export interface EngineDisk {
  readonly totalBytes: number
  readonly freeBytes: number
  /** All images, including those of others. */
  readonly images: readonly {
    /** Tags as they are; digests in the form that releases use. */
    readonly references: readonly string[]
    /**
     * The services that use an image built here. Each has its own tag: the one for which it was
     * built and those to which it was promoted.
     */
    readonly services: readonly string[]
    /** The size of the image without the parts that it shares with others. */
    readonly bytes: number
    readonly createdAt: Date
  }[]
  /**
   * The volumes of this installation by the ids of their storages, with the service for which each
   * was created.
   */
  readonly volumes: readonly { readonly id: string; readonly service?: string | undefined; readonly bytes: number }[]
  /** The bytes that each replica of a service wrote outside its volumes. */
  readonly layers: readonly { readonly service: string; readonly release: string; readonly bytes: number }[]
  /** The bytes that each run of a task wrote outside volumes, by the run's id, until `endTask`. */
  readonly runs: readonly { readonly service: string; readonly run: string; readonly bytes: number }[]
  /** The build cache of all builds on the engine: a cache does not record its owner. */
  readonly buildCache: { readonly bytes: number; readonly freeableBytes: number }
}
