import type { DiskSpace } from '../engines/index.ts'
import type { Clock } from '../lib/clock.ts'

const gibibyte = 1024 ** 3
const leastPauseMs = 60_000
/** Measuring takes at most one part in so many of the time. */
const share = 10

/** Decides when the disk is measured earlier than usual. */
export interface SpaceWatch {
  /** A measurement begins; `space` is what is free then, if it is known. The result is called at its end. */
  begin(space: DiskSpace | undefined): () => void
  /** Whether a measurement should begin now. */
  isDue(space: DiskSpace): boolean
}

/** Pure: whether less than a twentieth is free, or much less than at most since the last measurement. */
export function isUrgent({ totalBytes, freeBytes }: DiskSpace, mostFreeBytes: number): boolean {
  const muchLess = Math.max(2 * gibibyte, totalBytes / 100)
  return freeBytes < totalBytes / 20 || mostFreeBytes - freeBytes > muchLess
}

/** Early measurements are at least a minute apart, and further if they take long. */
export function createSpaceWatch(clock: Pick<Clock, 'monotonic'>): SpaceWatch {
  let mostFree = 0
  let notBefore = Number.NEGATIVE_INFINITY
  return {
    begin(space) {
      const begunAt = clock.monotonic()
      mostFree = space?.freeBytes ?? 0
      notBefore = Number.POSITIVE_INFINITY
      return () => {
        const tookMs = clock.monotonic() - begunAt
        notBefore = begunAt + Math.max(leastPauseMs, tookMs * share)
      }
    },
    isDue(space) {
      mostFree = Math.max(mostFree, space.freeBytes)
      return clock.monotonic() >= notBefore && isUrgent(space, mostFree)
    },
  }
}
