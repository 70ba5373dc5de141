import type { MachineReport } from '../machine-report.ts'
import type { Observation, ReplicaUsage } from '../observation.ts'

/** Reports running services, without tasks, and the machines below them. */
export interface Observes {
  /** Returns the state of the service. That nothing is running is not an error. */
  observe(service: string, signal: AbortSignal): Promise<Observation>
  /**
   * Returns the state of every service of this installation. Returns the same map again if nothing
   * has happened since.
   */
  observeAll(signal: AbortSignal): Promise<ReadonlyMap<string, Observation>>
  /**
   * Returns the current usage of each running replica of the service. May take half a second for
   * replicas that are measured for the first time.
   */
  usage(service: string, signal: AbortSignal): Promise<ReplicaUsage[]>
  /** Lists the machines of the engine. Throws EngineError if it does not answer. */
  machines(signal: AbortSignal): Promise<MachineReport[]>
}
