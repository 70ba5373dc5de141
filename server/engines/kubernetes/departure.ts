import { kinds } from './client/index.ts'
import { followObjects } from './follow-objects.ts'
import type { KubeHost } from './host.ts'
import { ownLabels } from './labels.ts'

/**
 * Removes the namespaces of an installation, which have everything that it created on a cluster,
 * and waits until they are gone. Returns their names.
 */
export async function eraseAll(host: KubeHost, signal: AbortSignal): Promise<string[]> {
  const { kube, instance } = host
  const selection = { labels: ownLabels(instance) }
  const { items } = await kube.list(kinds.namespace, selection, signal)
  const leaving = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  await Promise.all(
    leaving.map(({ metadata: { name, uid } }) => kube.remove(kinds.namespace, { name }, signal, { uid })),
  )
  const wish = { kind: kinds.namespace, selection, reduce: () => true }
  for await (const left of followObjects(host, wish, signal)) if (left.size === 0) break
  return items.map(({ metadata }) => metadata.name)
}
