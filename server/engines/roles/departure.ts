import type { Attempt } from '../../lib/attempt.ts'

/** The end of an engine: the cluster on which it runs leaves the installation. */
export interface Departure {
  /**
   * Removes everything that this installation created there, with all data, and waits until it is
   * gone. Touches nothing of others. Returns the names of what it removed. May be repeated. Throws
   * EngineError.
   */
  eraseAll(attempt: Attempt): Promise<string[]>
}
