import { keyOf } from './ingress-objects.ts'
import type { KubeObject, KubeObjects } from './kube-objects.ts'

/** The objects of a cluster in memory, for what a real one cannot be made to do. */
export interface MemoryCluster {
  readonly kube: KubeObjects
  /** Every write: `apply Service namespace/name`. */
  readonly writes: string[]
  /** The largest number of Ingresses at one time. */
  readonly mostIngresses: number
  /** Whether requests get no answer. */
  isAway: boolean
  hasTraefikKinds: boolean
  /** `installed`: the kinds of cert-manager are just being installed. */
  certManager: boolean | 'installed'
  /** The EndpointSlices, by the number of times that they were listed. */
  slices: (times: number) => readonly KubeObject[]
  /** The classes of Ingresses. */
  classes: readonly KubeObject[]
  /** Objects that the API server refuses. */
  refuse: (object: KubeObject) => boolean
  /** Namespaces and hosts of Ingresses, sorted. */
  hosts(): readonly string[]
  put(object: KubeObject): void
  /** The objects of a kind. */
  of(kind: string): readonly KubeObject[]
  /** Changes or removes all objects of a kind, as somebody else does. */
  change(kind: string): void
  drop(kind: string): void
}

const answer = (status: number, message: string): Error => Object.assign(new Error(message), { status })

const traefikClass = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressClass',
  metadata: { name: 'traefik' },
  spec: { controller: 'traefik.io/ingress-controller' },
}

export function createMemoryCluster(): MemoryCluster {
  const objects = new Map<string, KubeObject>()
  let version = 0
  let mostIngresses = 0
  let listed = 0
  const put = (object: KubeObject): KubeObject => {
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(++version) } }
    objects.set(keyOf(object), stored)
    mostIngresses = Math.max(mostIngresses, of('Ingress').length)
    return stored
  }
  const of = (kind: string): readonly KubeObject[] => [...objects.values()].filter((one) => one.kind === kind)
  const check = (): void => {
    if (cluster.isAway) throw answer(0, 'away')
  }
  const checkKind = (apiVersion: string): void => {
    if (!apiVersion.startsWith('cert-manager.io/') || cluster.certManager === true) return
    throw cluster.certManager ? answer(429, 'it is being installed') : answer(404, 'no such kind')
  }
  const cluster: MemoryCluster = {
    writes: [],
    isAway: false,
    hasTraefikKinds: true,
    certManager: true,
    slices: () => [],
    classes: [traefikClass],
    refuse: () => false,
    get mostIngresses() {
      return mostIngresses
    },
    hosts: () =>
      of('Ingress')
        .map((one) => `${one.metadata.namespace} ${Object(one).spec.rules[0].host}`)
        .toSorted(),
    put,
    of,
    change: (kind) => of(kind).forEach(put),
    drop: (kind) => {
      for (const one of of(kind)) objects.delete(keyOf(one))
    },
    kube: {
      create: async (object) => {
        check()
        if (objects.has(keyOf(object))) throw answer(409, 'it exists')
        return put(object)
      },
      apply: async (object) => {
        check()
        if (cluster.refuse(object)) throw answer(403, 'refused by a test')
        cluster.writes.push(`apply ${keyOf(object)}`)
        return put(object)
      },
      get: async ({ apiVersion, kind }, { namespace, name }) => {
        check()
        checkKind(apiVersion)
        return objects.get(
          keyOf({ apiVersion, kind, metadata: { name, ...(namespace !== undefined && { namespace }) } }),
        )
      },
      list: async ({ kind, apiVersion }, { labels }) => {
        check()
        if (kind === 'EndpointSlice') return { items: cluster.slices(++listed) }
        if (kind === 'IngressClass') return { items: cluster.classes }
        checkKind(apiVersion)
        if (apiVersion.startsWith('traefik.io/') && !cluster.hasTraefikKinds) throw answer(404, 'no such kind')
        const wanted = Object.entries(labels)
        return {
          items: of(kind).filter(({ metadata }) => wanted.every(([key, one]) => metadata.labels?.[key] === one)),
        }
      },
      remove: async ({ apiVersion, kind }, { namespace, name }) => {
        check()
        const key = keyOf({ apiVersion, kind, metadata: { name, ...(namespace !== undefined && { namespace }) } })
        cluster.writes.push(`remove ${key}`)
        return objects.delete(key)
      },
    },
  }
  return cluster
}
