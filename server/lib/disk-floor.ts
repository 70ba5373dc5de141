import { statfs } from 'node:fs/promises'
import type { Clock } from './clock.ts'

const gibibyte = 1024 ** 3
/** A check takes some microseconds. */
export const watchEveryMs = 250

/** Pure: how much of a disk stays free if nobody has set that. */
export const usualFloor = (diskBytes: number): number => Math.min(10 * gibibyte, Math.floor(diskBytes / 20))

export interface DiskFloor {
  /** A directory on the disk. Nothing is watched if this process cannot see it. */
  readonly directory: string
  /** `usualFloor` if undefined. */
  readonly floorBytes: number | undefined
  readonly clock: Clock
}

/** Aborts `stop` with the error once less than the floor is free; ends with `over`. */
export async function watchFloor(
  { directory, floorBytes, clock }: DiskFloor,
  stop: { readonly controller: AbortController; error(floorBytes: number): Error },
  over: AbortSignal,
): Promise<void> {
  while (!over.aborted) {
    const disk = await statfs(directory).catch(() => undefined)
    if (!disk) return
    const floor = floorBytes ?? usualFloor(disk.bsize * disk.blocks)
    if (disk.bsize * disk.bavail < floor) return stop.controller.abort(stop.error(floor))
    await clock.sleep(watchEveryMs, over).catch(() => {})
  }
}

export interface FloorWatch {
  /** The directories that the work writes to. */
  readonly directories: readonly string[]
  readonly floorBytes: number | undefined
  readonly clock: Clock
  readonly error: (floorBytes: number) => Error
}

/**
 * Runs the work, and stops it with the error once less than the floor is free on one of the disks.
 */
export async function aboveFloor<T>(
  { directories, floorBytes, clock, error }: FloorWatch,
  signal: AbortSignal,
  work: (bounded: AbortSignal) => Promise<T>,
): Promise<T> {
  const [controller, over] = [new AbortController(), new AbortController()]
  const watching = directories.map((directory) =>
    watchFloor({ directory, floorBytes, clock }, { controller, error }, over.signal),
  )
  try {
    return await work(AbortSignal.any([signal, controller.signal]))
  } catch (thrown) {
    signal.throwIfAborted()
    throw controller.signal.aborted ? controller.signal.reason : thrown
  } finally {
    over.abort()
    await Promise.all(watching)
  }
}

/** `1.5 GiB`, `12 MiB`. */
export const sizeText = (bytes: number): string =>
  bytes >= gibibyte ? `${(bytes / gibibyte).toFixed(1)} GiB` : `${Math.ceil(bytes / 1024 ** 2)} MiB`
