import type { Clock } from '../../lib/clock.ts'
import { type KubeObject, type KubeObjects, sliceKind, statusOf } from './kube-objects.ts'

export interface Followed {
  /** The Services with pods, as `namespace/name`. */
  readonly services: ReadonlySet<string>
  readonly leaving: ReadonlySet<string>
  /** The addresses of the table. */
  readonly current: ReadonlySet<string>
}

const everyMs = 250

/**
 * Whether the cluster still leads requests for a Service to replicas of its previous release. A
 * slice with addresses of the table as well belongs to a release of which only some replicas leave.
 * Pure.
 */
export function isBehind(slices: readonly KubeObject[], { services, leaving, current }: Followed): boolean {
  return slices.some((slice) => {
    const { namespace, labels } = slice.metadata
    if (!services.has(`${namespace}/${labels?.['kubernetes.io/service-name']}`)) return false
    const addresses = addressesIn(slice)
    return addresses.some((one) => leaving.has(one)) && !addresses.some((one) => current.has(one))
  })
}

/** Reads the addresses of an EndpointSlice. A cluster may answer anything. */
const addressesIn = (slice: KubeObject): readonly string[] =>
  listOf(Object(slice).endpoints)
    .flatMap((endpoint) => listOf(Object(endpoint).addresses))
    .filter((address) => typeof address === 'string')

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/**
 * Waits until the cluster has followed a change of Services. Controllers learn of it only then.
 * Returns whether it was behind. Does not wait if the user of the cluster may not list slices.
 */
export async function untilFollowed(
  { kube, clock }: { readonly kube: KubeObjects; readonly clock: Clock },
  followed: Followed & { readonly labels: Readonly<Record<string, string>>; readonly deadlineMs: number },
  signal: AbortSignal,
): Promise<boolean> {
  for (let wasBehind = false; ; wasBehind = true) {
    try {
      // They have the labels of their Service.
      const { items } = await kube.list(sliceKind, { labels: followed.labels }, signal)
      if (!isBehind(items, followed)) return wasBehind
    } catch (error) {
      signal.throwIfAborted()
      if (statusOf(error) === undefined) throw error
      if (isRefused(statusOf(error))) return wasBehind
    }
    if (clock.monotonic() >= followed.deadlineMs) return true
    await clock.sleep(everyMs, signal)
  }
}

const isRefused = (status: number | undefined): boolean => status === 403 || status === 404
