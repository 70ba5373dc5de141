import type { AccessLine } from '@quayside/contract/access-line.ts'
import type { CanaryCount } from '@quayside/contract/canary-counts.ts'
import type { ClusterTls, HostCertificate, Route, RouteEndpoint } from '@quayside/contract/routes.ts'
import type { PeopleLists } from '@quayside/contract/sign-in.ts'
import type { CountBatch, StoredBatches } from '@quayside/contract/traffic-counts.ts'

/** Carries traffic from host names to endpoints. Receives the whole table every time. */
export interface Router {
  /** Returns whether it counts requests. Otherwise none of its services is put to sleep. */
  countsRequests(): boolean
  /** Returns whether it shares the requests of a service between two versions. */
  sharesRequests(): boolean
  /**
   * Returns whether its hosts have certificates of the platform, unless an ingress controller or a
   * load balancer has them.
   */
  usesPlatformTls(): boolean
  /**
   * Applies a table and returns once new requests follow it, or will soon if the controller of a
   * cluster carries them. Returns the table's ports of this machine that other programs use. Throws
   * AppError('unavailable') if the router is unreachable, and RoutesRefusedError if it refuses some
   * of the routes. `people` are the lists to which rules of the routes refer. The objects of routes
   * and lists must not change after the call. Safe to repeat.
   */
  replaceAll(routes: readonly Route[], signal: AbortSignal, people?: PeopleLists): Promise<readonly number[]>
  /**
   * Waits for at most `timeoutMs` until these endpoints have no open request. Returns the number of
   * requests still open.
   */
  drained(endpoints: readonly RouteEndpoint[], timeoutMs: number, signal: AbortSignal): Promise<number>
  /**
   * Returns sleeping services for which requests wait. Waits for a change since `sequence`, but no
   * longer than `timeoutMs`. A number that was never returned counts as changed.
   */
  wakes(sequence: number, timeoutMs: number, signal: AbortSignal): Promise<Wakes>
  /**
   * Returns the traffic of each service with endpoints, by its id. Counters restart from 0 with a
   * new process or new endpoints.
   */
  activity(signal: AbortSignal): Promise<ReadonlyMap<string, Activity>>
  /**
   * Returns the numbers about traffic that are not stored yet, in batches. `stored` has the number
   * of the last stored batch of each process. A router that does not count returns none.
   */
  takeCounts(stored: StoredBatches, signal: AbortSignal): Promise<readonly CountBatch[]>
  /**
   * Returns how requests to the new versions of the table ended, by router process. A router that
   * does not share requests between versions returns none.
   */
  canaryCounts(signal: AbortSignal): Promise<readonly CanaryCount[]>
  /**
   * Returns the lines of requests to services that want them, since the last call. A router that
   * does not see requests returns none.
   */
  takeLines(signal: AbortSignal): Promise<readonly AccessLine[]>
  /**
   * Replaces the router's program if it has another version than this server. The table stays in
   * effect, and no connection is refused meanwhile. Safe to repeat.
   */
  renew(signal: AbortSignal): Promise<void>
  /**
   * Returns where the TCP and UDP ports of the last table are reached from outside. Empty for a
   * router that publishes them on this machine.
   */
  portAddresses(signal: AbortSignal): Promise<readonly PortAddress[]>
  /**
   * Returns the certificates of the hosts of the last table. A host with TLS that is missing has
   * none.
   */
  certificates(): Promise<readonly RouteCertificate[]>
  /**
   * Lists what the router lacks to carry traffic, and for the certificates of its cluster.
   * Undefined: the cluster has no certificates.
   */
  listFindings(signal: AbortSignal, tls?: ClusterTls): Promise<readonly RouterFinding[]>
}

/** The certificate of one route. */
export interface RouteCertificate {
  readonly service: string
  readonly host: string
  readonly certificate: HostCertificate
}

/** Where a TCP or UDP port of a service is reached, or why it is not reached yet. */
export interface PortAddress {
  readonly service: string
  /** The port of its route. */
  readonly port: number
  readonly reached: HostAndPort | { readonly reason: string }
}

export interface HostAndPort {
  /** A host name or an IP address. */
  readonly host: string
  readonly port: number
}

/** Something that a router lacks, with its effect and what mends it. */
export interface RouterFinding {
  readonly message: string
  /** Nothing can run on the cluster without it. */
  readonly isBlocking: boolean
}

export interface Wakes {
  readonly sequence: number
  readonly services: readonly string[]
}

export interface Activity {
  /** The total so far. */
  readonly requests: number
  /** The current number, including upgraded connections. */
  readonly open: number
}
