import type { Endpoint, Release, Replica } from '../engines/index.ts'
import type { Attempt } from '../lib/attempt.ts'
import type { Secret } from '../lib/secret.ts'
import type { WishRow } from './observation-store.ts'

/** Starts a release again that ran before. */
export interface Restarter {
  /**
   * Starts the release in the number that is wanted. Returns where it answers; undefined if the
   * release is gone.
   */
  readonly restartRelease: (
    wish: WishRow,
    release: string,
    attempt: Attempt,
  ) => Promise<readonly Endpoint[] | undefined>
}

/** Decides where the traffic of a service goes between deployments. */
export interface TrafficMover {
  /** Sends the traffic of a service to where its release answers now. */
  readonly moveTraffic: (serviceId: string, release: string, seen: readonly Endpoint[]) => Promise<void>
  /**
   * Returns whether traffic goes to none of these yet. They have to be seen healthy before it does.
   */
  readonly isNew: (serviceId: string, endpoints: readonly Endpoint[]) => Promise<boolean>
  /**
   * Takes traffic from replicas and waits until nothing is open on them. Returns false if the wish
   * has changed.
   */
  readonly leave: (
    wish: WishRow,
    replicas: { readonly staying: readonly Endpoint[]; readonly leaving: readonly Replica[] },
    signal: AbortSignal,
  ) => Promise<boolean>
  /** Ends the wait of requests for a service that could not be started. */
  readonly failed: (serviceId: string) => Promise<void>
}

/** Ends replicas that traffic has left. */
export interface ReplicaEnder {
  readonly endLeaving: (wish: Pick<WishRow, 'id'>, names: readonly string[], attempt: Attempt) => Promise<void>
}

/** Has the lines of running services collected, and reads them. */
export interface LineFollower {
  /** Returns the last lines of a service, without secrets, for people who ask why it fails. */
  readonly lastLines: (serviceId: string) => Promise<readonly string[]>
  /** Whether the lines of a service are collected, or it should not run. */
  readonly isCollected: (wish: WishRow) => boolean
  /** Begins to collect the lines of these running releases of a service. */
  readonly collect: (wish: WishRow, releases: readonly string[]) => void
}

/** What observers need of others: opens stored releases. */
export interface ReleaseOpener {
  /** Returns a release with its secrets; undefined if it is gone. */
  readonly open: (organizationId: string, releaseId: string) => Promise<OpenRelease | undefined>
  /** Returns the secrets of a release, of a chart too. None if it is gone. */
  readonly secretsOf: (organizationId: string, releaseId: string) => Promise<readonly Secret[]>
}

/** A stored release, ready to start. */
export interface OpenRelease {
  readonly release: Release
  readonly secrets: readonly Secret[]
  /** Has the engine fetch the image if it no longer has it. */
  readonly haveImage: (attempt: Attempt) => Promise<void>
}

/** What observers need of others: one router and what hands routes to it. */
export interface TrafficCarrier {
  /** Hands the whole table to the router, now. */
  readonly apply: (signal: AbortSignal) => Promise<unknown>
  /** Has the table handed over soon. */
  readonly nudge: () => void
  /** Waits until no request is open on these addresses, or the time for that is over. */
  readonly drained: (
    addresses: readonly { readonly address: string; readonly port: number }[],
    signal: AbortSignal,
  ) => Promise<unknown>
}

/** What observers need of others: collects the lines of a release, with its secrets masked. */
export interface LineCollector {
  readonly isCollected: (serviceId: string) => boolean
  readonly collect: (serviceId: string, releaseId: string, secrets: readonly Secret[]) => void
}
