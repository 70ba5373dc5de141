import type { Route, RouteEndpoint } from '@quayside/contract/routes.ts'

/** What carries traffic from host names to endpoints. Gets the whole table every time. */
export interface Router {
  /**
   * Returns once new requests go by this table, with the ports of this machine of it that other
   * programs have. Throws when the router cannot be reached; repeatable.
   */
  replaceAll(routes: readonly Route[], signal: AbortSignal): Promise<readonly number[]>
  /**
   * Waits until no request is open on these endpoints, at most `timeoutMs`; gives how many are
   * still open.
   */
  drained(endpoints: readonly RouteEndpoint[], timeoutMs: number, signal: AbortSignal): Promise<number>
  /**
   * Services that are asleep and for which requests wait: at once when something is new since
   * `sequence`, else as soon as it is, at the latest after `timeoutMs`. Any number that was never
   * given is news.
   */
  wakes(sequence: number, timeoutMs: number, signal: AbortSignal): Promise<Wakes>
  /**
   * What went on at each service with endpoints, by its id. Numbers begin anew with a new process
   * or new endpoints.
   */
  activity(signal: AbortSignal): Promise<ReadonlyMap<string, Activity>>
}

export interface Wakes {
  readonly sequence: number
  readonly services: readonly string[]
}

export interface Activity {
  /** All so far. */
  readonly requests: number
  /** Now; upgraded connections count. */
  readonly open: number
}
