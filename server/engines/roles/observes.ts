import type { Observation, ReplicaUsage } from '../observation.ts'

/** Reports what runs for long. Tasks are not included. */
export interface Observes {
  /** Returns what runs of the service. That nothing runs is an answer, not an error. */
  observe(service: string, signal: AbortSignal): Promise<Observation>
  /**
   * Returns what runs of every service of this installation. Returns the same map again if nothing
   * has happened since.
   */
  observeAll(signal: AbortSignal): Promise<ReadonlyMap<string, Observation>>
  /**
   * Returns what each running replica of the service uses now. May take half a second for replicas
   * that are measured for the first time.
   */
  usage(service: string, signal: AbortSignal): Promise<ReplicaUsage[]>
}
