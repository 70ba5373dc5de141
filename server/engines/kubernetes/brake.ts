import type { Clock } from '../../lib/clock.ts'

/** What is read at once, and how much a second after that. */
export interface BrakeLimits {
  readonly burstBytes: number
  readonly bytesPerSecond: number
}

/** Slows down the reading of a source that sends more than its share. */
export interface Brake {
  /** Records what was read, and waits while that was too much. */
  take(bytes: number, signal: AbortSignal): Promise<void>
}

export function createBrake(clock: Clock, { burstBytes, bytesPerSecond }: BrakeLimits): Brake {
  let left = burstBytes
  let atMs = clock.monotonic()
  return {
    async take(bytes, signal) {
      const nowMs = clock.monotonic()
      left = Math.min(burstBytes, left + ((nowMs - atMs) / 1000) * bytesPerSecond) - bytes
      atMs = nowMs
      if (left < 0) await clock.sleep((-left / bytesPerSecond) * 1000, signal)
    },
  }
}
