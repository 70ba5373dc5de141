import type { Route } from '@quayside/contract/routes.ts'
import type { Database } from '../database/index.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import {
  allClusters,
  type Router,
  type RouterPlace,
  type RouterScope,
  type Routers,
  RoutesRefusedError,
  serves,
} from '../routers/index.ts'
import type { RouteMarks } from './route-marks.ts'
import { setCertificates, setOutsides } from './route-store.ts'
import { readTable, type ReadTable as Table, type TableFacts } from './route-table-store.ts'
import { setOwnTls } from './secured-host-store.ts'

export interface RoutePublisher {
  /**
   * Sends the route table to the router now. Returns once requests follow it, with the table's
   * ports that other programs use. Routes that the router refuses throw nothing, because they may
   * belong to another service.
   */
  apply(signal: AbortSignal): Promise<readonly number[]>
  /** Returns a service's ports of this machine that other programs use, by the last table sent. */
  lostPorts(serviceId: string): readonly number[]
  /**
   * Returns the service's TCP and UDP ports that are reached nowhere yet, each with the reason, by
   * the last table sent.
   */
  unreached(serviceId: string): readonly UnreachedPort[]
  /**
   * Returns the service's hosts whose certificates are not ready, each with the reason, by the last
   * table sent.
   */
  uncertified(serviceId: string): readonly UncertifiedHost[]
  /** Returns why the router refuses a route of a service, by the last table sent. */
  refusalOf(serviceId: string): string | undefined
  /**
   * Sends the table if it has changed, and periodically in any case, because a router may have been
   * replaced. Throws RoutesRefusedError.
   */
  readonly reconciler: Reconciler
}

/** A port of a service, by its route, and why nobody reaches it. */
export interface UnreachedPort {
  readonly port: number
  readonly reason: string
}

/** A host of a service, and why its certificate is not ready. */
export interface UncertifiedHost {
  readonly host: string
  readonly reason: string
}

/** After so many runs without a change the router gets the last table again. */
const refreshEvery = 5

/** The publishers of all current routers. A router that hangs delays no other. */
export interface RoutePublishers {
  readonly all: readonly RoutePublisher[]
  /** Returns the publisher of a cluster's router. */
  readonly publisherOf: (place: RouterPlace) => RoutePublisher
}

/** Creates a publisher for each router. `nameOf` returns the name of a router's reconciler. */
export function createRoutePublishers({
  routers,
  nameOf,
  ...rest
}: {
  readonly database: Database
  readonly marks: RouteMarks
  readonly routers: Pick<Routers, 'each'>
  readonly nameOf: (router: string) => string
  readonly facts: TableFacts
}): RoutePublishers {
  const scoped = routers.each(({ name, router, scope }) => ({
    scope,
    publisher: createRoutePublisher({ ...rest, router, scope, name: nameOf(name) }),
  }))
  const all = () => scoped.all.map(({ publisher }) => publisher)
  return {
    get all() {
      return all()
    },
    publisherOf: (place) => {
      const found = scoped.all.find(({ scope }) => serves(scope, place))
      if (!found) throw new Error('every cluster has a router')
      return found.publisher
    },
  }
}

/** Sends the route table from the database to one router, one at a time. The last table wins. */
export function createRoutePublisher({
  database,
  marks,
  router,
  scope = allClusters,
  name = 'routes',
  facts = {},
}: {
  database: Database
  marks: RouteMarks
  router: Pick<Router, 'replaceAll' | 'portAddresses' | 'certificates' | 'usesPlatformTls'>
  scope?: RouterScope
  name?: string
  facts?: TableFacts
}): RoutePublisher {
  let applied: Table | undefined
  let lost: ReadonlyMap<string, readonly number[]> = new Map()
  let refused: ReadonlyMap<string, string> = new Map()
  let unreached: ReadonlyMap<string, readonly UnreachedPort[]> = new Map()
  let uncertified: ReadonlyMap<string, readonly UncertifiedHost[]> = new Map()
  /** A previous process may have stored certificates. */
  let hasCertificates = true
  /** Undefined: not recorded by this process. */
  let hasOwnTls: boolean | undefined
  let quiet = 0
  let turn: Promise<unknown> = Promise.resolve()

  const send = async ({ routes, people }: Table, signal: AbortSignal): Promise<readonly number[]> => {
    try {
      const taken = await router.replaceAll(routes, signal, people)
      refused = new Map()
      return taken
    } catch (error) {
      if (!(error instanceof RoutesRefusedError)) throw error
      refused = error.services
      return []
    }
  }
  /** Addresses may come minutes after their ports, and change. */
  const followAddresses = async (signal: AbortSignal): Promise<void> => {
    const ports = await router.portAddresses(signal)
    const known = ports.map(({ service, port, reached }) => ({
      service,
      port,
      outside: 'host' in reached ? reached : null,
    }))
    if (known.length > 0) await setOutsides(database, known)
    const missing = ports.flatMap(({ service, port, reached }) =>
      'reason' in reached ? [{ service, port, reason: reached.reason }] : [],
    )
    unreached = Map.groupBy(missing, ({ service }) => service)
  }
  /** Certificates become ready, are renewed and expire while the table is the same. */
  const followCertificates = async (routes: readonly Route[]): Promise<void> => {
    const found = await router.certificates()
    if (found.length === 0 && !hasCertificates) return
    const byHost = new Map(found.map((one) => [hostKey(one), one.certificate]))
    const known = routes.flatMap((route) =>
      route.listen
        ? []
        : [{ service: route.service, host: route.host, certificate: byHost.get(hostKey(route)) ?? null }],
    )
    await setCertificates(database, known)
    hasCertificates = found.length > 0
    const missing = found.flatMap(({ service, host, certificate: { state, message } }) =>
      message === null || state === 'READY' ? [] : [{ service, host, reason: message }],
    )
    uncertified = Map.groupBy(missing, ({ service }) => service)
  }
  /** The next table of a cluster has the certificates, once its router is known. */
  const followTls = async (): Promise<void> => {
    if (scope.isRest) return
    const uses = router.usesPlatformTls()
    if (uses === hasOwnTls) return
    // A cluster that is connected for the first time has no engine until it is deployed.
    if (await setOwnTls(database, scope.engines, uses)) hasOwnTls = uses
  }
  const inTurn = (read: () => Promise<Table>, signal: AbortSignal): Promise<readonly number[]> => {
    const next = turn.then(async () => {
      const table = await read()
      const taken = await send(table, signal)
      applied = table
      lost = portsOf(table.routes, new Set(taken))
      await followTls()
      await followAddresses(signal)
      await followCertificates(table.routes)
      return taken
    })
    turn = next.catch(() => {})
    return next
  }
  const apply = (signal: AbortSignal) => inTurn(() => readTable(database, scope, facts), signal)

  return {
    apply,
    lostPorts: (serviceId) => lost.get(serviceId) ?? [],
    unreached: (serviceId) => unreached.get(serviceId) ?? [],
    uncertified: (serviceId) => uncertified.get(serviceId) ?? [],
    refusalOf: (serviceId) => refused.get(serviceId),
    reconciler: {
      name,
      everyMs: 1000,
      reconcile: async (signal) => {
        quiet = (quiet + 1) % refreshEvery
        const last = applied
        const isSame = (await marks.of(scope)) === last?.mark
        if (isSame && quiet !== 0) return
        await (isSame && last ? inTurn(async () => applied ?? last, signal) : apply(signal))
        if (refused.size > 0) throw new RoutesRefusedError(refused)
      },
    },
  }
}

const hostKey = ({ service, host }: { readonly service: string; readonly host: string }): string => `${service} ${host}`

/** Returns the ports that belong to services, by service. */
function portsOf(routes: readonly Route[], ports: ReadonlySet<number>): ReadonlyMap<string, readonly number[]> {
  const found = routes.flatMap(({ service, listen }) =>
    listen && ports.has(listen.port) ? [{ service, port: listen.port }] : [],
  )
  return new Map(
    [...Map.groupBy(found, ({ service }) => service)].map(([id, own]) => [id, own.map(({ port }) => port)]),
  )
}

/** Returns the message for a running service whose ports other programs use. Undefined for none. */
export function lostPortsText(ports: readonly number[]): string | undefined {
  const [first, ...others] = ports
  if (first === undefined) return undefined
  return others.length === 0
    ? `Port ${first} of this machine is in use by another program: until that ends, the service is not reached there.`
    : `Ports ${ports.join(', ')} of this machine are in use by other programs: until those end, the service is ` +
        'not reached there.'
}

/** Returns the message for a running service with ports that nobody reaches. Undefined for none. */
export const unreachedText = (ports: readonly UnreachedPort[]): string | undefined =>
  ports.length === 0
    ? undefined
    : ports.map(({ port, reason }) => `Nobody reaches the public port ${port} yet: ${reason}.`).join(' ')

/** Returns the message for a running service with hosts without TLS. Undefined for none. */
export const uncertifiedText = (hosts: readonly UncertifiedHost[]): string | undefined =>
  hosts.length === 0
    ? undefined
    : [...new Map(hosts.map((one) => [one.host, one])).values()]
        .map(({ host, reason }) => `The certificate of ${host} is not ready: ${reason}.`)
        .join(' ')

/** Returns what keeps clients from the ports and hosts of a running service. Undefined: nothing. */
export const routeTrouble = (
  routes: Pick<RoutePublisher, 'lostPorts' | 'unreached' | 'uncertified'>,
  serviceId: string,
): string | undefined =>
  lostPortsText(routes.lostPorts(serviceId)) ??
  unreachedText(routes.unreached(serviceId)) ??
  uncertifiedText(routes.uncertified(serviceId))
