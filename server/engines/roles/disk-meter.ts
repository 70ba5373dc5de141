import type { DiskSpace, EngineDisk, InodeCounts } from '../disk.ts'

/** Measures the engine's disk, and frees space on it. */
export interface DiskMeter {
  /** Measures what takes space on the engine's disk. May take minutes. */
  disk(signal: AbortSignal): Promise<EngineDisk>
  /** Returns the free space of the engine's disk, cheaply; undefined if it cannot be seen. */
  diskSpace(signal: AbortSignal): Promise<DiskSpace | undefined>
  /**
   * Counts the inodes of every volume, and of what replicas and runs wrote outside of volumes: each
   * up to `most` and a little more. May take minutes. Undefined if the disk cannot be read.
   */
  countInodes(most: number, signal: AbortSignal): Promise<InodeCounts | undefined>
  /**
   * Removes an image by its pinned reference. Returns false, and keeps it, if something uses it.
   */
  removeImage(reference: string, signal: AbortSignal): Promise<boolean>
  /**
   * Removes unused build caches, the longest unused first, until `keepBytes` are left. Returns the
   * number of bytes freed.
   */
  trimBuildCache(keepBytes: number, signal: AbortSignal): Promise<number>
}
