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
import { readRouteVersion, readTable } from './route-store.ts'

export interface RoutePublisher {
  /**
   * Sends the route table to the router now. Returns once requests follow it, with the table's
   * ports that other programs use. Routes that the router refuses throw nothing, because they may
   * belong to another service.
   */
  apply(signal: AbortSignal): Promise<readonly number[]>
  /** Returns a service's ports of this machine that other programs use, by the last table sent. */
  lostPorts(serviceId: string): readonly number[]
  /** Returns why the router refuses a route of a service, by the last table sent. */
  refusalOf(serviceId: string): string | undefined
  /**
   * Sends the table if it has changed, and periodically in any case, because a router may have been
   * replaced. Throws RoutesRefusedError.
   */
  readonly reconciler: Reconciler
}

const refreshEvery = 5

/** The publishers of all current routers. A router that hangs delays no other. */
export interface RoutePublishers {
  readonly all: readonly RoutePublisher[]
  /** Returns the publisher of a cluster's router. */
  readonly publisherOf: (place: RouterPlace) => RoutePublisher
  /** Returns a service's ports of this machine that other programs use. */
  lostPorts(serviceId: string): readonly number[]
}

/** Creates a publisher for each router. `nameOf` returns the name of a router's reconciler. */
export function createRoutePublishers(
  database: Database,
  routers: Pick<Routers, 'each'>,
  nameOf: (router: string) => string,
): RoutePublishers {
  const scoped = routers.each(({ name, router, scope }) => ({
    scope,
    publisher: createRoutePublisher({ database, router, scope, name: nameOf(name) }),
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
    lostPorts: (serviceId) => all().flatMap((publisher) => publisher.lostPorts(serviceId)),
  }
}

/** Sends the route table from the database to one router, one at a time. The last table wins. */
export function createRoutePublisher({
  database,
  router,
  scope = allClusters,
  name = 'routes',
}: {
  database: Database
  router: Pick<Router, 'replaceAll'>
  scope?: RouterScope
  name?: string
}): RoutePublisher {
  let applied = -1
  let lost: ReadonlyMap<string, readonly number[]> = new Map()
  let refused: ReadonlyMap<string, string> = new Map()
  let quiet = 0
  let turn: Promise<unknown> = Promise.resolve()

  const send = async (routes: readonly Route[], signal: AbortSignal): Promise<readonly number[]> => {
    try {
      const taken = await router.replaceAll(routes, signal)
      refused = new Map()
      return taken
    } catch (error) {
      if (!(error instanceof RoutesRefusedError)) throw error
      refused = error.services
      return []
    }
  }
  const apply = (signal: AbortSignal): Promise<readonly number[]> => {
    const next = turn.then(async () => {
      const { version, routes } = await readTable(database, scope)
      const taken = await send(routes, signal)
      applied = version
      lost = portsOf(routes, new Set(taken))
      return taken
    })
    turn = next.catch(() => {})
    return next
  }

  return {
    apply,
    lostPorts: (serviceId) => lost.get(serviceId) ?? [],
    refusalOf: (serviceId) => refused.get(serviceId),
    reconciler: {
      name,
      everyMs: 1000,
      reconcile: async (signal) => {
        quiet = (quiet + 1) % refreshEvery
        if (quiet !== 0 && (await readRouteVersion(database)) === applied) return
        await apply(signal)
        if (refused.size > 0) throw new RoutesRefusedError(refused)
      },
    },
  }
}

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
