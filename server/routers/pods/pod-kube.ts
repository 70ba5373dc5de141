import type { Duplex } from 'node:stream'
import type { KubeKind, KubeObject, KubeObjects } from '../ingress/kube-objects.ts'

/** Where an object is. Without a namespace: an object of the whole cluster. */
interface Place {
  readonly namespace?: string | undefined
  readonly name: string
}

/** What the router needs of a client of one cluster. Errors are as in `KubeObjects`. */
export interface PodKube extends Omit<KubeObjects, 'list'> {
  /** Undefined if the object does not exist. */
  get(kind: KubeKind, place: Place, signal: AbortSignal): Promise<KubeObject | undefined>
  /** Lists objects that have these labels, of one namespace or of all. */
  list(
    kind: KubeKind,
    selection: { readonly namespace?: string; readonly labels: Readonly<Record<string, string>> },
    signal: AbortSignal,
  ): Promise<{ readonly items: readonly KubeObject[] }>
  /** Connects to a port of a pod, inside of the pod. The signal ends the connection. */
  portForward(
    pod: { readonly namespace: string; readonly pod: string },
    port: number,
    signal: AbortSignal,
  ): Promise<Duplex>
}

const kind = (apiVersion: string, name: string, plural: string): KubeKind => ({
  apiVersion,
  kind: name,
  plural,
  isNamespaced: true,
})

/** The kinds of the router's objects in its namespace. */
export const podKinds = {
  secret: kind('v1', 'Secret', 'secrets'),
  service: kind('v1', 'Service', 'services'),
  pod: kind('v1', 'Pod', 'pods'),
  deployment: kind('apps/v1', 'Deployment', 'deployments'),
} as const
