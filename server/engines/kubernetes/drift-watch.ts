import { type KubeObject, kinds } from './client/index.ts'
import { hasDrifted, type ObjectState, toObjectState } from './drift.ts'
import type { Objects } from './follow-objects.ts'
import type { KubeHost } from './host.ts'
import { Informer } from './informer.ts'
import { ownLabels } from './labels.ts'
import { type DeploymentState, keyOfRelease } from './pod-state.ts'

/** Kinds of which releases and environments have objects, besides Deployments. */
const watched = [
  kinds.namespace,
  kinds.networkPolicy,
  kinds.resourceQuota,
  kinds.limitRange,
  kinds.service,
  kinds.secret,
  kinds.disruptionBudget,
  kinds.autoscaler,
  kinds.scaledObject,
  kinds.triggerAuthentication,
]

/**
 * The least time between two repairs of a service. Something that changes an object again and again
 * costs no more than that.
 */
const calmMs = 30_000

/** Finds objects that somebody changed or removed, by watches of their metadata. */
export class DriftWatch {
  readonly #clock: KubeHost['clock']
  readonly #informers: ReadonlyMap<string, Informer<KubeObject, ObjectState>>
  /** When services were last started, by the monotonic clock. */
  readonly #starts = new Map<string, number>()

  constructor({ kube, clock, instance }: KubeHost) {
    this.#clock = clock
    const selection = { labels: ownLabels(instance), metadataOnly: true }
    this.#informers = new Map(
      watched.map((kind) => [kind.kind, new Informer({ kube, clock, kind, selection, reduce: toObjectState })]),
    )
  }

  /** Grows with every change. */
  get version(): number {
    return [...this.#informers.values()].reduce((sum, { version }) => sum + version, 0)
  }

  /** Called when a start has ended: it has put everything right. */
  started(service: string): void {
    this.#starts.set(service, this.#clock.monotonic())
  }

  /** Returns the keys of the releases of which an object differs from what was applied. */
  async find(deployments: Objects<DeploymentState>, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const seen = new Map(
      await Promise.all(
        [...this.#informers].map(async ([kind, informer]) => [kind, await objectsOrNone(informer, signal)] as const),
      ),
    )
    const namespaces = seen.get(kinds.namespace.kind)
    const nowMs = this.#clock.monotonic()
    const known = new Set([...deployments.values()].map(({ service }) => service))
    for (const service of this.#starts.keys()) if (!known.has(service)) this.#starts.delete(service)
    const drifted = [...deployments.values()].filter((deployment) => {
      const { service, namespace, own, isHeld } = deployment
      if (isHeld || nowMs - (this.#starts.get(service) ?? Number.NEGATIVE_INFINITY) < calmMs) return false
      const environment = namespaces?.get(`/${namespace}`)
      return hasDrifted(own, namespace, seen) || (environment !== undefined && hasDrifted(environment, namespace, seen))
    })
    return new Set(drifted.map(keyOfRelease))
  }

  close(): void {
    for (const informer of this.#informers.values()) informer.close()
  }
}

/** A kind that the user of the cluster may not read is not watched. */
async function objectsOrNone(informer: Informer<KubeObject, ObjectState>, signal: AbortSignal) {
  try {
    return await informer.objects(signal)
  } catch {
    signal.throwIfAborted()
    return undefined
  }
}
