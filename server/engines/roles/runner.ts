import type { Attempt } from '../../lib/attempt.ts'
import type { Endpoint } from '../observation.ts'
import type { Release } from '../workload.ts'

/** One attempt to start a release. */
export interface Starting extends Attempt {
  /** Called each time a replica is about to begin; not called if all replicas already run. */
  readonly whenBegun?: () => void
}

/** Starts and ends what runs for long, and the networks of environments. */
export interface Runner {
  /**
   * Creates the environment's network before its first release starts. `start` creates it
   * otherwise. May be repeated. Throws EngineError.
   */
  prepareEnvironment(environment: string, attempt: Attempt): Promise<void>
  /**
   * Starts the release and returns when every replica is healthy. Throws EngineError; only the last
   * lines of the release are left then.
   */
  start(release: Release, attempt: Starting): Promise<Endpoint[]>
  /** Ends everything of the service except the release `keep`, tasks included. Volumes stay. */
  retire(service: string, keep: string | undefined, attempt: Attempt): Promise<void>
  /** Ends these replicas of the service gracefully. Replicas that do not exist count as ended. */
  endReplicas(service: string, replicas: readonly string[], attempt: Attempt): Promise<void>
  /** Ends everything of the service and removes its volumes. */
  erase(service: string, attempt: Attempt): Promise<void>
  /** Removes the environment's network. Does nothing while something is attached to it. */
  eraseEnvironment(environment: string, attempt: Attempt): Promise<void>
}
