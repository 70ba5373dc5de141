/** The shortest pause between two commands inside a replica. */
export const leastCommandPauseMs = 250

/**
 * Returns the pause until the next check of a replica. It is short at first, then 5 % of the
 * elapsed time, so health is noticed at most 5 % late. A check of a silent port costs the program
 * nothing, so it is repeated twice as often and at least ten times a second. `leastMs` is longer
 * for a command, because it uses the replica's own resources.
 */
export function pauseMs(elapsedMs: number, periodMs: number, silent: boolean, leastMs = 15): number {
  if (silent) return Math.max(15, Math.min(elapsedMs / 40, 100))
  return Math.max(leastMs, Math.min(elapsedMs / 20, periodMs))
}

/**
 * Returns how often a starting container is inspected while the daemon sends no events. Docker
 * waits at least 100 ms before it restarts an exited container, so no exit is missed.
 */
export const inspectPauseMs = (elapsedMs: number): number => Math.max(100, Math.min(elapsedMs / 20, 250))
