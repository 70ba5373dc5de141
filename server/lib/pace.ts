/** How slowly a client may send or read before its connection is closed. */
export interface PaceLimits {
  readonly bytesPerSecond: number
  /** A client that was fast enough may pause for this long. */
  readonly graceMs: number
}

/**
 * Whether a client keeps a minimum rate. Only the time in which the server waits for the client
 * counts.
 */
export interface Pace {
  /**
   * Records the last `elapsedMs`: how many bytes were transferred, and whether the server waited
   * for the client. Returns false once the client is too slow.
   */
  note(elapsedMs: number, moment: { readonly isWaiting: boolean; readonly bytes: number }): boolean
}

export function createPace({ bytesPerSecond, graceMs }: PaceLimits): Pace {
  let leftMs = graceMs
  return {
    note(elapsedMs, { isWaiting, bytes }) {
      const earnedMs = (bytes / bytesPerSecond) * 1000
      leftMs = Math.min(graceMs, leftMs + earnedMs - (isWaiting ? elapsedMs : 0))
      return leftMs > 0
    },
  }
}
