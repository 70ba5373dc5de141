import type { Database } from '../database/index.ts'
import type { Endpoint, Observes, Replica, Runner } from '../engines/index.ts'
import type { Attempt } from '../lib/attempt.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { WishRow } from './observation-store.ts'

export interface ObserverOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  /** The engine that it watches, under the name by which clusters refer to it. */
  readonly name: string
  readonly engine: Runner & Observes
  /** Starts a release that ran before, again, in the number that is wanted. Gives where it answers. */
  readonly restartRelease: (
    wish: WishRow,
    release: string,
    attempt: Attempt,
  ) => Promise<readonly Endpoint[] | undefined>
  /** Lets traffic of a service go to where its release answers now. */
  readonly moveTraffic: (serviceId: string, release: string, seen: readonly Endpoint[]) => Promise<void>
  /** Whether traffic does not go to one of these yet: then it has to be seen healthy before. */
  readonly isNew: (serviceId: string, endpoints: readonly Endpoint[]) => Promise<boolean>
  /** Whether what runs for a service without a record is a backup that is being proven: it is left alone. */
  readonly isScratch: (serviceId: string) => Promise<boolean>
  /** Traffic leaves replicas: waits until nothing is open on them. False when this wish is no longer the present one. */
  readonly leave: (
    wish: WishRow,
    replicas: { readonly staying: readonly Endpoint[]; readonly leaving: readonly Replica[] },
    signal: AbortSignal,
  ) => Promise<boolean>
  /** Ends the replicas that traffic has left. */
  readonly endLeaving: (wish: WishRow, names: readonly string[], attempt: Attempt) => Promise<void>
  /** A service could not be brought up. */
  readonly failed: (serviceId: string) => Promise<void>
  /** Grows with every change of the routes: what traffic follows has to be looked at anew. */
  readonly routesVersion: () => Promise<number>
  /** What keeps a service from being reached although it runs, in words for people. */
  readonly troubleOf: (serviceId: string) => string | undefined
  /** What a service printed last, without secrets; for people who ask why it fails. */
  readonly lastLines: (serviceId: string) => Promise<readonly string[]>
  /** These releases of the service run: their lines are to be collected. */
  readonly collect: (wish: WishRow, releases: readonly string[]) => void
}
