import {
  isKubeError,
  type Kind,
  type Kube,
  KubeError,
  type KubeObject,
  type Selection,
  type WatchEvent,
} from './client/index.ts'

/** The objects of one kind, by namespace and name. */
export type Objects<T> = ReadonlyMap<string, T>

export const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`

/**
 * Returns the objects that match now, and again after every change. `reduce` keeps what is needed
 * of an object. Continues after the server ends a watch, and lists again if it no longer knows the
 * version (410). Throws KubeError if the server is away; the caller decides when to begin again.
 */
export async function* followObjects<T extends KubeObject, K>(
  kube: Pick<Kube, 'list' | 'watch'>,
  {
    kind,
    selection,
    reduce,
  }: { readonly kind: Kind<T>; readonly selection: Selection; readonly reduce: (one: T) => K },
  signal: AbortSignal,
): AsyncGenerator<Objects<K>> {
  for (;;) {
    const { items, resourceVersion } = await kube.list(kind, selection, signal)
    const objects = new Map(items.map((item) => [keyOf(item), reduce(item)]))
    yield objects
    try {
      yield* watchFrom(kube, { kind, selection, reduce, objects, resourceVersion }, signal)
    } catch (error) {
      if (!isKubeError(error, 'Expired', 410)) throw error
    }
  }
}

async function* watchFrom<T extends KubeObject, K>(
  kube: Pick<Kube, 'watch'>,
  from: {
    readonly kind: Kind<T>
    readonly selection: Selection
    readonly reduce: (one: T) => K
    readonly objects: Map<string, K>
    readonly resourceVersion: string
  },
  signal: AbortSignal,
): AsyncGenerator<Objects<K>> {
  const { kind, selection, reduce, objects } = from
  let { resourceVersion } = from
  for (;;) {
    let isEmpty = true
    for await (const event of kube.watch(kind, { ...selection, resourceVersion }, signal)) {
      isEmpty = false
      resourceVersion = event.object.metadata.resourceVersion ?? resourceVersion
      if (change(objects, event, reduce)) yield objects
    }
    signal.throwIfAborted()
    // A server sends a bookmark every minute. One that ends every watch at once is not asked in a
    // loop.
    if (isEmpty) throw new KubeError(0, 'Closed', 'the API server ended a watch before it reported anything')
  }
}

/** Returns whether something changed. */
function change<T extends KubeObject, K>(
  objects: Map<string, K>,
  { type, object }: WatchEvent<T>,
  reduce: (one: T) => K,
): boolean {
  if (type === 'BOOKMARK') return false
  if (type === 'DELETED') objects.delete(keyOf(object))
  else objects.set(keyOf(object), reduce(object))
  return true
}
