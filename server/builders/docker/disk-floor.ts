import { statfs } from 'node:fs/promises'
import type { Clock } from '../../lib/clock.ts'
import { BuildError } from '../builder.ts'

const gibibyte = 1024 ** 3
const everyMs = 250

/** Pure: how much of the engine's disk builds leave free where nobody has set that. */
export const usualFloor = (diskBytes: number): number => Math.min(10 * gibibyte, Math.floor(diskBytes / 20))

export interface DiskFloor {
  /** Where the engine keeps its data. Where that cannot be seen from here, nothing is watched. */
  readonly directory: string
  /** Undefined: `usualFloor`. */
  readonly floorBytes: number | undefined
  readonly clock: Clock
}

/** Aborts `stop` with a BuildError as soon as less is free than builds leave; ends with `over`. Asking takes some microseconds. */
export async function watchFloor(
  { directory, floorBytes, clock }: DiskFloor,
  stop: AbortController,
  over: AbortSignal,
): Promise<void> {
  while (!over.aborted) {
    const disk = await statfs(directory).catch(() => undefined)
    if (!disk) return
    const floor = floorBytes ?? usualFloor(disk.bsize * disk.blocks)
    if (disk.bsize * disk.bavail < floor) return stop.abort(floorError(floor))
    await clock.sleep(everyMs, over).catch(() => {})
  }
}

const floorError = (floor: number): BuildError =>
  new BuildError(
    'disk-full',
    `The build was ended because less than ${sizeText(floor)} of the engine's disk are free, which builds leave to what runs (QUAYSIDE_DISK_FLOOR). Free space there, let the build write less, and deploy again.`,
  )

/** What is too large for an image here, and what to do about it. */
export const imageSizeError = (bytes: number, allowed: number): BuildError =>
  new BuildError(
    'size',
    `The image takes ${sizeText(bytes)}, and an image may take ${sizeText(allowed)} (QUAYSIDE_IMAGE_SIZE); it was removed. Leave out what only the build needs, by stages and .dockerignore, and deploy again.`,
  )

const sizeText = (bytes: number): string =>
  bytes >= gibibyte ? `${(bytes / gibibyte).toFixed(1)} GiB` : `${Math.ceil(bytes / 1024 ** 2)} MiB`
