import type { Database } from '../database/index.ts'
import type { Observes, Reachable, Runner } from '../engines/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { LineFollower, ReplicaEnder, Restarter, TrafficMover } from './roles.ts'

/** Texts that change when the observer must look again. */
export interface Marks {
  /** Returns a text that changes with the hosts of the engine's clusters and their endpoints. */
  readonly routesMark: () => Promise<string>
  /** Returns such a text for each of these services that has hosts. */
  readonly routeMarks: (services: readonly string[]) => Promise<ReadonlyMap<string, string>>
  /** Returns a text that changes with what should run on the engine, a little late. */
  readonly wishMark: () => Promise<string>
}

export interface ObserverOptions extends Restarter, TrafficMover, ReplicaEnder, LineFollower, Marks {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  /** The observed engine, with the name that clusters use for it. */
  readonly name: string
  readonly engine: Runner & Observes & Pick<Reachable, 'capabilities'>
  /**
   * Returns whether a service without a record belongs to the proof of a backup. The observer
   * ignores it.
   */
  readonly isScratch: (serviceId: string) => Promise<boolean>
  /** Returns why a running service cannot be reached, in words for people. */
  readonly troubleOf: (serviceId: string) => string | undefined
}
