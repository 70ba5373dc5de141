import type { Route, RouteEndpoint } from '@quayside/contract/routes.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/error.ts'
import { askCluster } from '../ask-cluster.ts'
import type { Activity, RouteCertificate, Router, Wakes } from '../router.ts'
import { RoutesRefusedError } from '../routes-refused.ts'
import { applyChanges, ensureNamespace, findObjects } from './apply-objects.ts'
import type { CertificateSetting, FoundCertificate } from './certificate-objects.ts'
import { Certificates } from './certificates.ts'
import { untilFollowed } from './endpoint-slices.ts'
import { findIngressClass, type IngressClass, noClassText, otherControllerText } from './ingress-class.ts'
import { type IngressSetting, ingressObjects } from './ingress-objects.ts'
import { type KubeObject, type KubeObjects, statusOf } from './kube-objects.ts'
import { type Applied, planChanges } from './plan-changes.ts'
import { unsupportedRules } from './rule-mapping.ts'
import { findTlsProblems } from './tls-findings.ts'

export interface IngressRouterOptions {
  readonly kube: KubeObjects
  readonly setting: Omit<IngressSetting, 'hasTraefikKinds' | 'certificates' | keyof IngressClass> & CertificateSetting
  /** The name of the class of Ingresses. Undefined: the router chooses one of the cluster's. */
  readonly className: string | undefined
  readonly clock: Clock
}

/**
 * How long an ingress controller may take to follow a change. Traefik collects changes for two
 * seconds, and learns of them within some hundred milliseconds.
 */
export const controllerLagMs = 5_000

/** How long the class of a cluster is kept. */
const classAgeMs = 60_000

/** A router of one cluster: the table becomes Ingresses and Services that a controller follows. */
export function createIngressRouter(options: IngressRouterOptions): Router {
  const { clock } = options
  const table = new IngressTable(options)
  let turn: Promise<unknown> = Promise.resolve()
  return {
    countsRequests: () => false,
    sharesRequests: () => false,
    usesPlatformTls: () => false,
    takeCounts: async () => [],
    canaryCounts: async () => [],
    takeLines: async () => [],
    /** Returns once the API server has the objects. Controllers follow within `controllerLagMs`. */
    replaceAll: (routes, signal) => {
      const next = turn.then(() => table.replace(routes, signal))
      turn = next.catch(() => {})
      return next
    },
    /**
     * Nobody counts the open requests of a controller. Once it follows the table, its pods get no
     * further ones, and a replica that is asked to stop may finish those that it has.
     */
    drained: async (endpoints: readonly RouteEndpoint[], timeoutMs, signal) => {
      signal.throwIfAborted()
      if (endpoints.length === 0) return 0
      const deadlineMs = clock.monotonic() + timeoutMs
      await table.untilFollowed(endpoints, deadlineMs, signal)
      const nowMs = clock.monotonic()
      const lagMs = Math.min(table.changedAt + controllerLagMs, deadlineMs) - nowMs
      if (lagMs > 0) await clock.sleep(lagMs, signal)
      return 0
    },
    wakes: (sequence, timeoutMs, signal) => table.wakes(sequence, timeoutMs, signal),
    activity: async () => table.activity(),
    portAddresses: async () => [],
    certificates: async () => table.certificates(),
    renew: async () => {},
    listFindings: async (signal, tls) => {
      const { kube, className } = options
      try {
        const found = await findIngressClass(kube, className, signal)
        const other = otherControllerText(found?.ingressClass ?? '')
        const rules = found?.controller === 'other' ? [{ message: other, isBlocking: false }] : []
        if (found) return [...rules, ...(tls ? await findTlsProblems({ ...options, ...found }, tls, signal) : [])]
      } catch (error) {
        // The engine of the cluster reports rights that are missing.
        if (statusOf(error) === 403) return []
        throw error
      }
      return [{ message: noClassText(className), isBlocking: true }]
    },
  }
}

/** The table of an ingress router. */
class IngressTable {
  /**
   * When the objects, or the endpoints behind them, last changed. A process knows nothing of
   * changes before its start.
   */
  changedAt: number
  readonly #options: IngressRouterOptions
  readonly #applied = new Map<string, Applied>()
  #routes: readonly Route[] = []
  /** The Services of the table with pods, as `namespace/name`. */
  #services: ReadonlySet<string> = new Set()
  readonly #certificates: Certificates
  #found: ReadonlyMap<string, FoundCertificate> = new Map()
  #class: { readonly found: IngressClass; readonly atMs: number } | undefined
  #sequence = 0
  #changed = Promise.withResolvers<void>()

  constructor(options: IngressRouterOptions) {
    this.#options = options
    this.#certificates = new Certificates(options)
    this.changedAt = options.clock.monotonic()
  }

  /**
   * Applies a table. Throws AppError('unavailable') if the API server is away, and
   * RoutesRefusedError, after everything else was applied, if it refuses objects.
   */
  replace(routes: readonly Route[], signal: AbortSignal): Promise<readonly number[]> {
    return askCluster(signal, async () => {
      const { kube, clock } = this.#options
      const setting = { ...this.#options.setting, ...(await this.#findClass(signal)) }
      const { found, hasTraefikKinds } = await findObjects(kube, setting, signal)
      this.#found = await this.#certificates.follow(routes, signal)
      const whole = { ...setting, hasTraefikKinds, certificates: this.#found }
      const desired = ingressObjects(routes, whole)
      if (desired.some(({ metadata }) => metadata.namespace === setting.idleNamespace)) {
        await ensureNamespace(kube, setting, signal)
      }
      const isKnown = clock.monotonic() - this.changedAt >= controllerLagMs
      const changes = planChanges(found, desired, this.#applied, isKnown)
      const refused = refusedRoutes(routes, whole)
      const untilKnown = () => clock.sleep(controllerLagMs, signal)
      const count = changes.moving.length + changes.apply.length + changes.remove.length
      try {
        if (count > 0) await applyChanges(kube, changes, { applied: this.#applied, refused, untilKnown }, signal)
      } finally {
        if (count > 0) this.changedAt = clock.monotonic()
      }
      this.#remember(routes)
      this.#services = servicesOf(desired)
      if (refused.size > 0) throw new RoutesRefusedError(refused)
      return []
    })
  }

  /** Returns the certificates of the last table. */
  certificates(): readonly RouteCertificate[] {
    return this.#routes.flatMap(({ service, host }) => {
      const found = this.#found.get(host)
      return found ? [{ service, host, certificate: { state: found.state, message: found.message } }] : []
    })
  }

  /** Waits until the cluster leads no Service of the table to these endpoints. */
  async untilFollowed(endpoints: readonly RouteEndpoint[], deadlineMs: number, signal: AbortSignal): Promise<void> {
    const { clock, setting } = this.#options
    const leaving = new Set(endpoints.map(({ address }) => address))
    const current = new Set(this.#routes.flatMap((route) => route.endpoints.map(({ address }) => address)))
    const followed = { services: this.#services, leaving, current, labels: setting.labels, deadlineMs }
    if (await untilFollowed(this.#options, followed, signal)) this.changedAt = clock.monotonic()
  }

  /** Classes change rarely, so that an idle cluster is asked less often. */
  async #findClass(signal: AbortSignal): Promise<IngressClass> {
    const { kube, clock, className } = this.#options
    if (this.#class && clock.monotonic() - this.#class.atMs < classAgeMs) return this.#class.found
    const found = await findIngressClass(kube, className, signal)
    if (!found) throw new AppError('conflict', `The cluster cannot carry traffic. ${noClassText(className)}`)
    this.#class = { found, atMs: clock.monotonic() }
    return found
  }

  #remember(routes: readonly Route[]): void {
    const before = sleepersOf(this.#routes).join()
    this.#routes = structuredClone(routes)
    if (sleepersOf(routes).join() === before) return
    this.#sequence++
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  /** A controller keeps no requests for a sleeping service, so it is woken at once. */
  async wakes(known: number, timeoutMs: number, signal: AbortSignal): Promise<Wakes> {
    signal.throwIfAborted()
    if (known === this.#sequence || sleepersOf(this.#routes).length === 0) {
      const over = new AbortController()
      const limit = AbortSignal.any([signal, over.signal])
      await Promise.race([this.#changed.promise, this.#options.clock.sleep(timeoutMs, limit).catch(() => {})])
      over.abort()
      signal.throwIfAborted()
    }
    return { sequence: this.#sequence, services: sleepersOf(this.#routes) }
  }

  /** Nobody counts requests. Services count as used, so that none of them is put to sleep. */
  activity(): ReadonlyMap<string, Activity> {
    const used = this.#routes.filter(({ endpoints }) => endpoints.length > 0)
    return new Map(used.map(({ service }) => [service, { requests: 0, open: 1 }]))
  }
}

/** Returns why routes are not as their settings say, by the id of their service. */
function refusedRoutes(routes: readonly Route[], setting: IngressSetting): Map<string, string> {
  const found = routes.flatMap((route) =>
    unsupportedRules(route, setting, setting.usual).map(({ rule, reason }) => ({
      service: route.service,
      rule,
      reason,
    })),
  )
  return new Map(
    [...Map.groupBy(found, ({ service }) => service)].map(([service, lost]) => [
      service,
      [...new Set(lost.map(({ rule, reason }) => `its rule ${rule} cannot be applied: ${reason}`))].join('; '),
    ]),
  )
}

const servicesOf = (objects: readonly KubeObject[]): ReadonlySet<string> =>
  new Set(
    objects
      .filter((object) => object.kind === 'Service' && Object(object).spec?.selector !== undefined)
      .map(({ metadata: { namespace, name } }) => `${namespace}/${name}`),
  )

const sleepersOf = (routes: readonly Route[]): readonly string[] => [
  ...new Set(routes.filter(({ asleep }) => asleep).map(({ service }) => service)),
]
