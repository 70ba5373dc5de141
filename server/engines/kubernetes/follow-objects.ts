import type { Clock } from '../../lib/clock.ts'
import { createBrake } from './brake.ts'
import {
  isKubeError,
  type Kind,
  type Kube,
  KubeError,
  type KubeList,
  type KubeObject,
  mostObjects,
  type Selection,
  type WatchEvent,
} from './client/index.ts'

/** The objects of one kind, by namespace and name. */
export type Objects<T> = ReadonlyMap<string, T>

export const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`

/** The objects to follow. `reduce` keeps what is needed of an object. */
export interface Wish<T extends KubeObject, K> {
  readonly kind: Kind<T>
  readonly selection: Selection
  readonly reduce: (one: T) => K
}

/** The server, and the clock by which it is asked. */
export interface Source {
  readonly kube: Pick<Kube, 'list' | 'watch'>
  readonly clock: Clock
}

/** A watch that ended is not begun again sooner. */
const leastWatchMs = 1_000
/** So many watches that ended at once and brought nothing mean that the server is away. */
const mostEmpty = 3
/** Parsing costs everybody time, and the server may belong to somebody who wants that. */
const changes = { burstBytes: 32 * 1024 * 1024, bytesPerSecond: 4 * 1024 * 1024 }

/**
 * Returns the objects that match now, and again after every change. Continues after the server ends
 * a watch or cuts it, and lists again if it no longer knows the version (410). Throws KubeError if
 * the server is away; the caller decides when to begin again.
 */
export async function* followObjects<T extends KubeObject, K>(
  source: Source,
  wish: Wish<T, K>,
  signal: AbortSignal,
): AsyncGenerator<Objects<K>> {
  const reduce = checked(wish)
  for (let isAgain = false; ; isAgain = true) {
    if (isAgain) await source.clock.sleep(leastWatchMs, signal)
    const { items, resourceVersion } = await listWhole(source, wish, signal)
    const objects = new Map(items.map((item) => [keyOf(item), reduce(item)]))
    yield objects
    try {
      yield* watchFrom(source, { ...wish, reduce, objects, resourceVersion }, signal)
    } catch (error) {
      if (!isKubeError(error, 'Expired', 410)) throw error
    }
  }
}

/** A list of many pages may take longer than the server knows its version. */
const mostLists = 3

async function listWhole<T extends KubeObject, K>(
  { kube, clock }: Source,
  { kind, selection }: Wish<T, K>,
  signal: AbortSignal,
): Promise<KubeList<T>> {
  for (let lists = 1; ; lists++) {
    try {
      return await kube.list(kind, selection, signal)
    } catch (error) {
      if (lists === mostLists || !isKubeError(error, 'Expired', 410)) throw error
      await clock.sleep(leastWatchMs, signal)
    }
  }
}

/** Fields of a kind that are missing are an answer of the server, and not a defect of a reader. */
const checked =
  <T extends KubeObject, K>({ kind, reduce }: Wish<T, K>) =>
  (one: T): K => {
    try {
      return reduce(one)
    } catch (cause) {
      const what = `${kind.kind} ${keyOf(one)}`
      throw new KubeError(0, 'Unreadable', `the API server sent ${what} without its fields`, { cause })
    }
  }

async function* watchFrom<T extends KubeObject, K>(
  { kube, clock }: Source,
  from: Wish<T, K> & { readonly objects: Map<string, K>; readonly resourceVersion: string },
  signal: AbortSignal,
): AsyncGenerator<Objects<K>> {
  const { kind, selection, reduce, objects } = from
  const brake = createBrake(clock, changes)
  let { resourceVersion } = from
  for (let empty = 0; ; ) {
    const begunMs = clock.monotonic()
    let isEmpty = true
    try {
      for await (const event of kube.watch(kind, { ...selection, resourceVersion }, signal)) {
        isEmpty = false
        resourceVersion = event.object.metadata.resourceVersion ?? resourceVersion
        await brake.take(event.bytes, signal)
        if (change(objects, event, reduce)) yield objects
      }
    } catch (error) {
      // A watch that had begun continues with the last version.
      const isOver = isKubeError(error, 'Cut') || (isKubeError(error, 'Silent') && !isEmpty)
      if (!isOver) throw error
    }
    signal.throwIfAborted()
    const lastedMs = clock.monotonic() - begunMs
    // A server that ends every watch at once is not asked in a loop.
    empty = isEmpty && lastedMs < leastWatchMs ? empty + 1 : 0
    if (empty === mostEmpty)
      throw new KubeError(0, 'Closed', 'the API server ended a watch before it reported anything')
    if (lastedMs < leastWatchMs) await clock.sleep(leastWatchMs - lastedMs, signal)
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
  if (objects.size <= mostObjects) return true
  throw new KubeError(0, 'TooLong', `the API server has more than ${mostObjects} objects of the kind ${object.kind}`)
}
