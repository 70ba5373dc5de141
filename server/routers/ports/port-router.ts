import type { Clock } from '../../lib/clock.ts'
import { everyOne } from '../../lib/every-one.ts'
import { askCluster } from '../ask-cluster.ts'
import { applyChanges } from '../ingress/apply-objects.ts'
import { type KubeKind, type KubeObject, type KubeObjects, nodeKind, routeKinds } from '../ingress/kube-objects.ts'
import { type Applied, planChanges } from '../ingress/plan-changes.ts'
import type { PortAddress, Router } from '../router.ts'
import { RoutesRefusedError } from '../routes-refused.ts'
import { portAddresses } from './port-addresses.ts'
import { type PortRoute, type PortSetting, portObjects, portRoutes, refusalOf } from './port-objects.ts'

export interface PortRouterOptions {
  readonly kube: KubeObjects
  readonly clock: Clock
  readonly setting: PortSetting
  /** Carries the routes of HTTP. */
  readonly router: Router
}

/** How long the nodes of a cluster are kept. */
const factAgeMs = 60_000
const kinds: readonly KubeKind[] = [routeKinds.networkPolicy, routeKinds.service]

/**
 * A router of one cluster whose TCP and UDP ports are Services. Another router carries the other
 * routes.
 */
export function createPortRouter(options: PortRouterOptions): Router {
  const ports = new PortTable(options)
  let turn: Promise<unknown> = Promise.resolve()
  const replaceAll: Router['replaceAll'] = async (routes, signal, people) => {
    const refused = new Map<string, string>()
    const http = routes.filter(({ listen }) => listen === undefined)
    const taken = await carried(() => options.router.replaceAll(http, signal, people), refused)
    await ports.replace(portRoutes(routes), refused, signal)
    if (refused.size > 0) throw new RoutesRefusedError(refused)
    return taken
  }
  return {
    ...options.router,
    /** Tables are applied one at a time, the last one wins. */
    replaceAll: (...table) => {
      const next = turn.then(() => replaceAll(...table))
      turn = next.catch(() => {})
      return next
    },
    portAddresses: (signal) => ports.addresses(signal),
  }
}

/** Applies a table and collects what the router refuses. */
async function carried(
  replaceAll: () => Promise<readonly number[]>,
  refused: Map<string, string>,
): Promise<readonly number[]> {
  try {
    return await replaceAll()
  } catch (error) {
    if (!(error instanceof RoutesRefusedError)) throw error
    for (const [service, reason] of error.services) refused.set(service, reason)
    return []
  }
}

/** The ports of one cluster. */
class PortTable {
  readonly #options: PortRouterOptions
  readonly #applied = new Map<string, Applied>()
  #routes: readonly PortRoute[] = []
  /** Whether the cluster has no object of ports. A process knows nothing before its first table. */
  #isEmpty = false
  #nodes: { readonly found: readonly KubeObject[]; readonly atMs: number } | undefined

  constructor(options: PortRouterOptions) {
    this.#options = options
  }

  /** Applies the ports of a table. Adds the reasons of what cannot be applied. */
  async replace(routes: readonly PortRoute[], refused: Map<string, string>, signal: AbortSignal): Promise<void> {
    this.#routes = structuredClone(routes)
    if (routes.length === 0 && this.#isEmpty) return
    for (const route of routes) {
      const reason = refusalOf(route)
      if (reason !== undefined) refused.set(route.service, reason)
    }
    await askCluster(signal, async () => {
      const { kube, setting } = this.#options
      const found = (await everyOne(kinds.map((kind) => this.#list(kind, signal)))).flat()
      const desired = portObjects(routes, setting, found)
      const changes = planChanges(found, desired, this.#applied, true)
      const making = { applied: this.#applied, refused, untilKnown: async () => {} }
      await applyChanges(kube, changes, making, signal)
      this.#isEmpty = found.length === 0 && desired.length === 0
    })
  }

  /** Asks the cluster only if the table has ports. */
  async addresses(signal: AbortSignal): Promise<readonly PortAddress[]> {
    const routes = this.#routes
    if (routes.length === 0) return []
    const { portType } = this.#options.setting
    return askCluster(signal, async () => {
      const services = await this.#list(routeKinds.service, signal)
      const nodes = portType === 'NodePort' ? await this.#findNodes(signal) : []
      return portAddresses(routes, portType, { services, nodes })
    })
  }

  async #list(kind: KubeKind, signal: AbortSignal): Promise<readonly KubeObject[]> {
    const { items } = await this.#options.kube.list(kind, { labels: this.#options.setting.labels }, signal)
    // Objects in a list do not repeat their kind.
    return items.map((object) => ({ ...object, apiVersion: kind.apiVersion, kind: kind.kind }))
  }

  /** Nodes change rarely, so that a cluster is asked less often. */
  async #findNodes(signal: AbortSignal): Promise<readonly KubeObject[]> {
    const { kube, clock } = this.#options
    if (this.#nodes && clock.monotonic() - this.#nodes.atMs < factAgeMs) return this.#nodes.found
    const { items: found } = await kube.list(nodeKind, { labels: {} }, signal)
    this.#nodes = { found, atMs: clock.monotonic() }
    return found
  }
}
