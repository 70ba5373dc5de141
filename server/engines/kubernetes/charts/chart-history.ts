import type { ChartPlace } from '../../engine.ts'
import { kinds, type Metadata } from '../client/index.ts'
import type { KubeHost } from '../host.ts'
import { label } from '../labels.ts'
import { helmRelease } from './chart-names.ts'

/** One revision of a release in Helm, oldest first. */
export interface Revision {
  readonly revision: number
  readonly status: string
  /** The release of the platform whose objects it has. A rollback has those of the earlier one. */
  readonly release: string
}

/** The action that restores the last complete revision. */
export type Repair = { readonly rollbackTo: number } | 'uninstall' | undefined

/** How many revisions Helm keeps. */
export const keptRevisions = 5

/**
 * Returns the revisions of a release by the labels of Helm's records; none if it is not installed.
 * Throws KubeError.
 */
export async function readHistory({ kube }: KubeHost, place: ChartPlace, signal: AbortSignal): Promise<Revision[]> {
  const { name, namespace } = helmRelease(place)
  const selection = { namespace, labels: { owner: 'helm', name }, metadataOnly: true }
  const { items } = await kube.list(kinds.secret, selection, signal)
  return items.map(({ metadata }) => toRevision(metadata)).sort((a, b) => a.revision - b.revision)
}

const toRevision = ({ labels = {} }: Metadata): Revision => ({
  revision: Number(labels['version']),
  status: labels['status'] ?? '',
  release: labels[label.release] ?? '',
})

/** Whether the next installation is an upgrade. Pure. */
export const hasDeployed = (revisions: readonly Revision[]): boolean =>
  revisions.some(({ status }) => status === 'deployed')

/**
 * Returns what puts a release right whose last change failed or was cut off. The revision of the
 * release `failed` of the platform counts as such a change, even if it was installed. Pure.
 */
export function repairOf(revisions: readonly Revision[], failed?: string): Repair {
  const last = revisions.at(-1)
  if (last === undefined || (last.status === 'deployed' && last.release !== failed)) return undefined
  const whole = revisions.findLast(
    ({ status, release }) => (status === 'deployed' || status === 'superseded') && release !== failed,
  )
  const isLeaving = last.status === 'uninstalling' || last.status === 'uninstalled'
  return whole && !isLeaving ? { rollbackTo: whole.revision } : 'uninstall'
}

/** Whether this release of the platform was installed completely. Pure. */
export const isInstalled = (revisions: readonly Revision[], releaseId: string): boolean => {
  const last = revisions.at(-1)
  return last?.status === 'deployed' && last.release === releaseId
}
