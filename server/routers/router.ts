import type { Route, RouteEndpoint } from '@quayside/contract/routes.ts'

/** What carries traffic from host names to endpoints. Gets the whole table every time. */
export interface Router {
  /** Returns once new requests go by this table. Throws when the router cannot be reached; repeatable. */
  replaceAll(routes: readonly Route[], signal: AbortSignal): Promise<void>
  /** Waits until no request is open on these endpoints, at most `timeoutMs`; gives how many are still open. */
  drained(endpoints: readonly RouteEndpoint[], timeoutMs: number, signal: AbortSignal): Promise<number>
}
