import type { Database } from '../database/index.ts'
import type { Observes, Runner } from '../engines/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { LineFollower, ReplicaEnder, Restarter, TrafficMover } from './roles.ts'

export interface ObserverOptions extends Restarter, TrafficMover, ReplicaEnder, LineFollower {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  /** The engine that it watches, under the name by which clusters refer to it. */
  readonly name: string
  readonly engine: Runner & Observes
  /**
   * Returns whether a backup that is being proven runs for a service without a record: it is left
   * alone.
   */
  readonly isScratch: (serviceId: string) => Promise<boolean>
  /** Returns what keeps a running service from being reached, in words for people. */
  readonly troubleOf: (serviceId: string) => string | undefined
}
