import type { DiskSpace } from '../engines/index.ts'
import type { Clock } from '../lib/clock.ts'
import { areInodesShort } from './full-inodes.ts'

const gibibyte = 1024 ** 3
const leastPauseMs = 60_000
/** Measuring takes at most this fraction of the time: one part in ten. */
const share = 10

/** Decides when the disk is measured early. */
export interface SpaceWatch {
  /** Begins a measurement with the free space, if it is known. Call `end` when it ends. */
  begin(space: DiskSpace | undefined): { readonly areInodesShort: boolean; end(): void }
  /** Whether a measurement should begin now. */
  isDue(space: DiskSpace): boolean
}

type Free = Pick<DiskSpace, 'freeBytes' | 'freeInodes'>

/**
 * Pure: whether less than a twentieth is free, far less than the maximum since the last
 * measurement, or inodes run short.
 */
export function isUrgent(space: DiskSpace, most: Free): boolean {
  const { totalBytes, freeBytes } = space
  const muchLess = Math.max(2 * gibibyte, totalBytes / 100)
  const isShort = freeBytes < totalBytes / 20 || most.freeBytes - freeBytes > muchLess
  return isShort || areInodesShort(space, most.freeInodes)
}

/** Spaces early measurements at least a minute apart, and further if they take long. */
export function createSpaceWatch(clock: Pick<Clock, 'monotonic'>): SpaceWatch {
  const none: Free = { freeBytes: 0, freeInodes: 0 }
  let most = none
  let notBefore = Number.NEGATIVE_INFINITY
  return {
    begin(space) {
      const begunAt = clock.monotonic()
      const isShort = space !== undefined && areInodesShort(space, most.freeInodes)
      most = space ?? none
      notBefore = Number.POSITIVE_INFINITY
      const end = (): void => {
        const tookMs = clock.monotonic() - begunAt
        notBefore = begunAt + Math.max(leastPauseMs, tookMs * share)
      }
      return { areInodesShort: isShort, end }
    },
    isDue(space) {
      most = {
        freeBytes: Math.max(most.freeBytes, space.freeBytes),
        freeInodes: Math.max(most.freeInodes, space.freeInodes),
      }
      return clock.monotonic() >= notBefore && isUrgent(space, most)
    },
  }
}
