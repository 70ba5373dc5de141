import { everyOne } from '../../../lib/every-one.ts'
import { type ChartPlace, EngineError } from '../../engine.ts'
import { kinds } from '../client/index.ts'
import type { KubeHost } from '../host.ts'
import { chartLabels, helmRelease } from './chart-names.ts'

const pauseMs = 500
const limitMs = 60_000

/**
 * Makes the claims of a chart outlive its StatefulSets, which may ask Kubernetes to delete them
 * together. Throws EngineError('not-ready') if Kubernetes does not release the claims.
 */
export async function releaseClaims(host: KubeHost, place: ChartPlace, outer: AbortSignal): Promise<void> {
  const selection = { namespace: helmRelease(place).namespace, labels: chartLabels(place, host.instance) }
  const sets = (await host.kube.list(kinds.statefulSet, selection, outer)).items
  const deleting = sets.filter(
    ({ spec }) => Object(Object(spec).persistentVolumeClaimRetentionPolicy).whenDeleted === 'Delete',
  )
  const spec = { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' } }
  await everyOne(deleting.map(({ metadata }) => host.kube.patch(kinds.statefulSet, metadata, { spec }, outer)))
  const names = new Set(deleting.map(({ metadata }) => metadata.name))
  const limit = AbortSignal.timeout(limitMs)
  for (;;) {
    const { items } = await host.kube.list(kinds.volumeClaim, selection, outer)
    const owned = items.find(({ metadata }) =>
      metadata.ownerReferences?.some(({ kind, name }) => kind === 'StatefulSet' && names.has(name)),
    )
    if (!owned) return
    if (limit.aborted) {
      const { name } = owned.metadata
      throw new EngineError('not-ready', `the volume of the claim ${name} would be deleted with its StatefulSet`)
    }
    await host.clock.sleep(pauseMs, outer)
  }
}

/** Whether a request deletes a claim or all claims of a namespace. Pure. */
export function deletesClaim(path: string, method: string | undefined): boolean {
  const asked = URL.parse(path, 'http://localhost')
  return method === 'DELETE' && asked?.pathname.split('/').includes('persistentvolumeclaims') === true
}
