import type { Attempt } from '../../lib/attempt.ts'
import type { Release } from '../workload.ts'

/** Brings objects that another version of the platform created to this version. */
export interface Renewal {
  /**
   * Brings the objects of an environment and of its running releases to this version. No replica is
   * replaced, and no service gets another number of them. Returns a line for each change. An engine
   * whose objects are the same in all versions returns nothing and opens no release. May be
   * repeated. Throws EngineError.
   */
  renewEnvironment(
    environment: string,
    releases: () => Promise<readonly Release[]>,
    attempt: Attempt,
  ): Promise<string[]>
}
