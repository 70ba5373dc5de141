import { EngineError } from '../engine.ts'
import { kinds, type PersistentVolumeClaim, type Pod } from './client/index.ts'
import { followObjects } from './follow-objects.ts'
import type { KubeHost } from './host.ts'
import { label, ownLabels } from './labels.ts'
import { volumeName } from './names.ts'

/** The claim of a volume on a cluster. */
export interface Claim {
  readonly namespace: string
  readonly environment: string
  /** The name is the same in every namespace, and one of them has it. */
  readonly name: string
  readonly sizeGiB: number
}

/**
 * Finds the claim of a volume of this installation. One that is being deleted counts as missing.
 */
export async function findClaim(
  { kube, instance }: KubeHost,
  volume: string,
  signal: AbortSignal,
): Promise<Claim | undefined> {
  const selection = { labels: ownLabels(instance, { [label.volume]: volume }) }
  const { items } = await kube.list(kinds.volumeClaim, selection, signal)
  const found = items.find(({ metadata }) => metadata.deletionTimestamp === undefined)
  if (!found) return undefined
  const { namespace = '', labels } = found.metadata
  const environment = labels?.[label.environment] ?? ''
  return { namespace, environment, name: volumeName(volume), sizeGiB: sizeOf(found) }
}

/** Claims of the platform have whole gibibytes. */
export const sizeOf = ({ spec }: PersistentVolumeClaim): number =>
  Math.max(1, Number.parseInt(spec?.resources?.requests?.['storage'] ?? '1', 10))

/** Returns the pods that use a claim, without helpers of the platform. */
export async function usersOf(
  { kube }: KubeHost,
  { namespace, name }: Claim,
  signal: AbortSignal,
): Promise<readonly Pod[]> {
  const { items } = await kube.list(kinds.pod, { namespace }, signal)
  return items.filter((pod) => uses(pod, name) && !isOver(pod) && pod.metadata.labels?.[label.helper] === undefined)
}

const isOver = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed'

/** Whether a pod, or the pods of a Deployment, mount a claim. */
export const uses = ({ spec }: { readonly spec: Pod['spec'] }, claim: string): boolean =>
  spec.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === claim) ?? false

/** Throws if a claim is in use. */
export async function assertUnused(host: KubeHost, claim: Claim, signal: AbortSignal): Promise<void> {
  const [user] = await usersOf(host, claim, signal)
  if (!user) return
  throw new EngineError(
    'refused',
    `the volume ${claim.name} is in use by the pod ${user.metadata.name}; stop the service that uses it`,
  )
}

/** Deletes a claim that nothing uses, and waits until it is gone. */
export async function removeClaim(host: KubeHost, { namespace, name }: Claim, signal: AbortSignal): Promise<void> {
  const { kube } = host
  if (!(await kube.remove(kinds.volumeClaim, { namespace, name }, signal))) return
  const selection = { namespace, fields: `metadata.name=${name}` }
  const wish = { kind: kinds.volumeClaim, selection, reduce: () => true }
  for await (const left of followObjects(host, wish, signal)) if (left.size === 0) return
}
