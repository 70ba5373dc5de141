import type { AccessLine } from '@quayside/contract/access-line.ts'
import type { CanaryCount } from '@quayside/contract/canary-counts.ts'
import type { Route, RouteEndpoint } from '@quayside/contract/routes.ts'
import type { PeopleLists } from '@quayside/contract/sign-in.ts'
import type { CountBatch } from '@quayside/contract/traffic-counts.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import type { PortAddress, RouteCertificate, Router, Wakes } from '../router.ts'

/** A router in memory. It carries no traffic, but tests can look up hosts and open requests. */
export interface FakeRouter extends Router {
  /** The table in effect. */
  readonly routes: readonly Route[]
  readonly people: PeopleLists
  /** The number of tables applied so far. */
  readonly replacements: number
  /** The number of calls of `renew` so far. */
  readonly renewals: number
  /**
   * Opens a request at the first endpoint of a host. Returns a function that ends it. Throws if the
   * host has no endpoint.
   */
  open(host: string): () => void
  /**
   * Lets a request wait at a host whose service is asleep. Returns a function that ends its wait.
   * Throws if the service is not asleep.
   */
  knock(host: string): () => void
  /** Ports of this machine that other programs use. */
  readonly taken: Set<number>
  /** Where ports are reached, as the router of a cluster reports it. */
  addresses: readonly PortAddress[]
  /** The certificates that the router of a cluster reports. */
  secured: readonly RouteCertificate[]
  /** Whether it has certificates of the platform. False at first. */
  hasPlatformTls: boolean
  /** The lines of requests that nobody has taken yet. */
  readonly lines: AccessLine[]
  /** How requests to new versions ended. */
  canaries: readonly CanaryCount[]
  /** The batches of numbers that the router has. It keeps those that are not stored. */
  batches: readonly CountBatch[]
  /** Makes every call throw this error. Undefined ends that. */
  failWith(error: Error | undefined): void
}

const keyOf = ({ address, port }: RouteEndpoint): string => `${address} ${port}`

export function createFakeRouter(clock: Clock = systemClock): FakeRouter {
  let routes: readonly Route[] = []
  let people: PeopleLists = {}
  let replacements = 0
  let renewals = 0
  const taken = new Set<number>()
  let failure: Error | undefined
  const open = new Map<string, number>()
  const totals = new Map<string, number>()
  const waiting: string[] = []
  let sequence = 0
  let knocked = Promise.withResolvers<void>()
  const countOf = (endpoints: readonly RouteEndpoint[]): number =>
    endpoints.reduce((sum, endpoint) => sum + (open.get(keyOf(endpoint)) ?? 0), 0)
  const check = (signal: AbortSignal): void => {
    signal.throwIfAborted()
    if (failure) throw failure
  }
  const router: FakeRouter = {
    countsRequests: () => true,
    sharesRequests: () => true,
    usesPlatformTls: () => router.hasPlatformTls,
    hasPlatformTls: false,
    addresses: [],
    secured: [],
    batches: [],
    canaries: [],
    lines: [],
    takeLines: async (signal) => {
      check(signal)
      return router.lines.splice(0)
    },
    canaryCounts: async (signal) => {
      check(signal)
      return router.canaries
    },
    takeCounts: async (stored, signal) => {
      check(signal)
      router.batches = router.batches.filter(({ source, batch }) => batch > (stored[source] ?? 0))
      return router.batches
    },
    certificates: async () => router.secured,
    portAddresses: async (signal) => {
      check(signal)
      return router.addresses
    },
    get routes() {
      return routes
    },
    get people() {
      return people
    },
    get replacements() {
      return replacements
    },
    get renewals() {
      return renewals
    },
    open: (host) => {
      const endpoint = routes.find((route) => route.host === host)?.endpoints[0]
      if (!endpoint) throw new Error(`no endpoint for ${host}`)
      const key = keyOf(endpoint)
      open.set(key, (open.get(key) ?? 0) + 1)
      totals.set(key, (totals.get(key) ?? 0) + 1)
      return () => open.set(key, (open.get(key) ?? 1) - 1)
    },
    knock: (host) => {
      const route = routes.find((one) => one.host === host)
      if (!route?.asleep) throw new Error(`${host} is not asleep`)
      waiting.push(route.service)
      sequence++
      knocked.resolve()
      knocked = Promise.withResolvers()
      return () => void waiting.splice(waiting.indexOf(route.service), 1)
    },
    taken,
    failWith: (error) => {
      failure = error
    },
    replaceAll: async (table, signal, lists = {}) => {
      check(signal)
      routes = structuredClone(table)
      people = structuredClone(lists)
      replacements++
      return routes.flatMap(({ listen }) => (listen && taken.has(listen.port) ? [listen.port] : []))
    },
    drained: async (endpoints, timeoutMs, signal) => {
      check(signal)
      const end = clock.monotonic() + timeoutMs
      while (countOf(endpoints) > 0 && clock.monotonic() < end) {
        await clock.sleep(Math.min(5, Math.max(0, end - clock.monotonic())), signal)
      }
      return countOf(endpoints)
    },
    wakes: async (known, timeoutMs, signal): Promise<Wakes> => {
      check(signal)
      if (known === sequence || waiting.length === 0) {
        const over = new AbortController()
        const limit = AbortSignal.any([signal, over.signal])
        await Promise.race([knocked.promise, clock.sleep(timeoutMs, limit).catch(() => {})])
        over.abort()
        check(signal)
      }
      return { sequence, services: [...new Set(waiting)] }
    },
    renew: async (signal) => {
      check(signal)
      renewals++
    },
    listFindings: async (signal) => {
      check(signal)
      return []
    },
    activity: async (signal) => {
      check(signal)
      const services = Map.groupBy(
        routes.filter(({ endpoints }) => endpoints.length > 0),
        ({ service }) => service,
      )
      return new Map(
        [...services].map(([service, leading]) => {
          const endpoints = leading.flatMap((route) => route.endpoints)
          const requests = [...new Set(endpoints.map(keyOf))].reduce((sum, key) => sum + (totals.get(key) ?? 0), 0)
          return [service, { requests, open: countOf(endpoints) }]
        }),
      )
    },
  }
  return router
}
