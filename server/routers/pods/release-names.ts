import { createHash } from 'node:crypto'
import type { Route } from '@quayside/contract/routes.ts'
import { everyOne } from '../../lib/every-one.ts'
import { createSlots } from '../../lib/slots.ts'
import type { Pods } from '../ingress/ingress-objects.ts'
import { type KubeObject, statusOf } from '../ingress/kube-objects.ts'
import { type PodKube, podKinds } from './pod-kube.ts'

/** How the names of releases are made in a cluster. */
export interface NameSetting {
  /** Labels of every object of routes, and of no other object. */
  readonly routeLabels: Readonly<Record<string, string>>
  /** Returns where the replicas of a release are, and the labels of their pods. */
  readonly podsOf: (replicas: NonNullable<Route['replicas']> & { readonly service: string }) => Pods
}

/** Requests to the API server at the same time. */
const atOnce = 8

/** A route with the names of its replicas, and the Services that have these names. */
interface NamedRoute {
  readonly route: Route
  readonly services: readonly KubeObject[]
}

/**
 * Adds the names that routers follow while the platform is away. The Service of a name has no
 * address of its own: the name resolves to the ready pods of one release. Pure.
 */
export function nameRoutes(routes: readonly Route[], setting: NameSetting): readonly NamedRoute[] {
  return routes.map((route) => {
    const { replicas, endpoints, service, canary } = route
    if (!replicas) return { route, services: [] }
    const usual = endpoints.length > 0 ? nameOf({ ...replicas, service }, setting) : undefined
    const trial = canary && nameOf({ ...replicas, release: canary.release, service }, setting)
    return {
      route: {
        ...route,
        ...(usual && { follow: usual.host }),
        ...(canary && trial && { canary: { ...canary, follow: trial.host } }),
      },
      services: [usual, trial].flatMap((one) => one?.object ?? []),
    }
  })
}

/** Returns the name of the replicas of one release, and the Service that has it. */
function nameOf(
  replicas: NonNullable<Route['replicas']> & { readonly service: string },
  { podsOf, routeLabels: labels }: NameSetting,
): { readonly host: string; readonly object: KubeObject } {
  const { namespace, labels: selector } = podsOf(replicas)
  // Pods of a chart stay the same from release to release.
  const which = replicas.pods ? JSON.stringify(replicas.pods) : replicas.release
  const digest = createHash('sha256').update(`${replicas.service} ${which}`).digest('hex')
  const name = `route-${digest.slice(0, 16)}`
  const spec = { clusterIP: 'None', selector }
  const object = { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace, labels }, spec }
  return { host: `${name}.${namespace}.svc`, object }
}

const keyOf = ({ metadata: { namespace, name } }: KubeObject): string => `${namespace}/${name}`

/**
 * Creates the Services of names that the cluster lacks. Returns those that no route needs any more.
 * A name that the API server refuses is left out: only what it is for is lost.
 */
export async function createNames(
  kube: PodKube,
  setting: NameSetting,
  named: readonly NamedRoute[],
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  const { items } = await kube.list(podKinds.service, { labels: setting.routeLabels }, signal)
  const present = new Set(items.map(keyOf))
  const wanted = new Map(named.flatMap(({ services }) => services.map((one) => [keyOf(one), one] as const)))
  const slots = createSlots(atOnce)
  const missing = [...wanted].filter(([key]) => !present.has(key))
  await everyOne(missing.map(([, service]) => slots.run(signal, () => applyUnlessRefused(kube, service, signal))))
  return items.filter((object) => !wanted.has(keyOf(object)))
}

async function applyUnlessRefused(kube: PodKube, service: KubeObject, signal: AbortSignal): Promise<void> {
  try {
    await kube.apply(service, signal)
  } catch (error) {
    const status = statusOf(error) ?? 0
    if (status < 400 || status >= 500 || status === 429) throw error
  }
}

/** Removes Services of names. */
export async function removeNames(kube: PodKube, left: readonly KubeObject[], signal: AbortSignal): Promise<void> {
  const slots = createSlots(atOnce)
  await everyOne(left.map(({ metadata }) => slots.run(signal, () => kube.remove(podKinds.service, metadata, signal))))
}
