import type { NetworkGuards } from '../network-guards.ts'

/**
 * Regular work that some engines leave to the platform. An engine that does it by itself has
 * nothing to do here.
 */
export interface Upkeep {
  /**
   * Probes every replica with a liveness probe that is due, and restarts those that failed too
   * often. Returns the names of the restarted ones. For a reconciler, about once a second.
   */
  checkLiveness(signal: AbortSignal): Promise<string[]>
  /**
   * Runs the post-start command of restarted replicas. Returns the problems. For a reconciler,
   * about once a second.
   */
  followRestarts(signal: AbortSignal): Promise<string[]>
  /**
   * Sets the rules that keep containers and builds away from the machine and its cloud. Returns
   * whether something changed. Throws an Error with the reason if it cannot.
   */
  guardNetworks(wanted: NetworkGuards, signal: AbortSignal): Promise<boolean>
}
