import type { Kind, Kube, KubeObject, Selection, WatchEvent } from './client/index.ts'
import { label } from './labels.ts'

/** Namespaces of environments and of routers begin with this. */
const ofPlatform = 'quayside-'
/** Labels of objects that are only in the namespace of their environment. */
const ofEnvironments = [label.service, label.release, label.run, label.volume] as const

/**
 * Whether an object is where the platform creates one with its labels. Anybody with a namespace on
 * the cluster may give their objects the labels of ours, which would get its requests. Pure.
 */
export function isInPlace({ metadata: { namespace, labels = {} } }: KubeObject): boolean {
  if (namespace === undefined || labels[label.instance] === undefined) return true
  const environment = labels[label.environment]
  if (environment !== undefined) return namespace === `${ofPlatform}${environment}`
  return namespace.startsWith(ofPlatform) && ofEnvironments.every((name) => labels[name] === undefined)
}

/** Returns a client that neither lists nor watches objects of others that have labels of ours. */
export const inPlace = (kube: Kube): Kube => ({
  ...kube,
  async list(kind, selection, signal) {
    const found = await kube.list(kind, selection, signal)
    return { ...found, items: found.items.filter(isInPlace) }
  },
  async *watch<T extends KubeObject>(
    kind: Kind<T>,
    selection: Selection & { readonly resourceVersion?: string | undefined },
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent<T>> {
    for await (const event of kube.watch(kind, selection, signal)) {
      if (event.type === 'BOOKMARK' || isInPlace(event.object)) yield event
    }
  },
})
