import type { Route, RouteEndpoint } from '@quayside/contract/routes.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import type { Router } from '../router.ts'

/** A router in memory: takes no traffic, but can be asked where a request would go and be told that one is open. */
export interface FakeRouter extends Router {
  /** The table in effect. */
  readonly routes: readonly Route[]
  /** How often a table was taken. */
  readonly replacements: number
  /** Opens a request at the first endpoint of a host; the given function ends it. Throws where there is no endpoint. */
  open(host: string): () => void
  /** From now on every call throws this; undefined: none does. */
  failWith(error: Error | undefined): void
}

const keyOf = ({ address, port }: RouteEndpoint): string => `${address} ${port}`

export function createFakeRouter(clock: Clock = systemClock): FakeRouter {
  let routes: readonly Route[] = []
  let replacements = 0
  let failure: Error | undefined
  const open = new Map<string, number>()
  const countOf = (endpoints: readonly RouteEndpoint[]): number =>
    endpoints.reduce((sum, endpoint) => sum + (open.get(keyOf(endpoint)) ?? 0), 0)
  const check = (signal: AbortSignal): void => {
    signal.throwIfAborted()
    if (failure) throw failure
  }
  return {
    get routes() {
      return routes
    },
    get replacements() {
      return replacements
    },
    open: (host) => {
      const endpoint = routes.find((route) => route.host === host)?.endpoints[0]
      if (!endpoint) throw new Error(`no endpoint for ${host}`)
      const key = keyOf(endpoint)
      open.set(key, (open.get(key) ?? 0) + 1)
      return () => open.set(key, (open.get(key) ?? 1) - 1)
    },
    failWith: (error) => {
      failure = error
    },
    replaceAll: async (table, signal) => {
      check(signal)
      routes = structuredClone(table)
      replacements++
    },
    drained: async (endpoints, timeoutMs, signal) => {
      check(signal)
      const end = clock.monotonic() + timeoutMs
      while (countOf(endpoints) > 0 && clock.monotonic() < end) {
        await clock.sleep(Math.min(5, Math.max(0, end - clock.monotonic())), signal)
      }
      return countOf(endpoints)
    },
  }
}
