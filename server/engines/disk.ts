/** What the file system of the engine's data has. */
export interface DiskSpace {
  readonly totalBytes: number
  readonly freeBytes: number
  /** 0: it makes inodes as they are needed. */
  readonly totalInodes: number
  readonly freeInodes: number
}

/** Inodes of things of this installation. A count that is over the limit of the call is not exact. */
export interface InodeCounts {
  readonly volumes: readonly { readonly id: string; readonly inodes: number }[]
  readonly layers: readonly { readonly service: string; readonly release: string; readonly inodes: number }[]
  readonly runs: readonly { readonly service: string; readonly run: string; readonly inodes: number }[]
}

/** The engine's disk, in bytes. */
export interface EngineDisk {
  readonly totalBytes: number
  readonly freeBytes: number
  /** All of them, also those of others. */
  readonly images: readonly {
    /** Tags as they are; digests as releases name them. */
    readonly references: readonly string[]
    /** Those that have it of what was built here: each has a tag of its own, the one for which it was built and those that it was given to. */
    readonly services: readonly string[]
    /** What it alone takes, without what it shares with others. */
    readonly bytes: number
    readonly createdAt: Date
  }[]
  /** Those of this installation, by the ids of their storages, with the service for which each was made. */
  readonly volumes: readonly { readonly id: string; readonly service?: string | undefined; readonly bytes: number }[]
  /** What each replica of a service wrote outside of its volumes. */
  readonly layers: readonly { readonly service: string; readonly release: string; readonly bytes: number }[]
  /** What each run of a task wrote outside of volumes, by the id that it was prepared with, until `endTask`. */
  readonly runs: readonly { readonly service: string; readonly run: string; readonly bytes: number }[]
  /** Of all builds of the engine: a cache tells nothing of whose it is. */
  readonly buildCache: { readonly bytes: number; readonly freeableBytes: number }
}
