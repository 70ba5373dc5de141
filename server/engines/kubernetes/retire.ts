import { failpoint } from '../../lib/failpoint.ts'
import type { Release } from '../engine.ts'
import {
  type Deployment,
  type Kind,
  type Kube,
  type KubeObject,
  kinds,
  type Pod,
  type Selection,
} from './client/index.ts'
import { pauseEventScaling } from './event-scaler.ts'
import { followObjects } from './follow-objects.ts'
import type { KubeHost } from './host.ts'
import { annotation, label, ownLabels } from './labels.ts'
import { labelsOf } from './manifests.ts'
import { namespaceOf } from './names.ts'
import { listOptional } from './optional-kinds.ts'
import { type DeploymentState, type PodState, toDeploymentState, toPodState } from './pod-state.ts'

/** Kinds of which a release or a run has objects, in the order in which they end. */
const kindsOfRelease: readonly Kind[] = [
  kinds.scaledObject,
  kinds.autoscaler,
  kinds.deployment,
  kinds.job,
  kinds.disruptionBudget,
  kinds.secret,
  kinds.triggerAuthentication,
]
/** Kinds that change the number of replicas. They end before it becomes zero. */
const scalers: readonly Kind[] = [kinds.scaledObject, kinds.autoscaler]

/**
 * Ends all releases and runs of a service except the release `keep`, gracefully, then removes their
 * objects. Can be repeated after any failure. Volumes stay.
 */
export async function retireService(
  host: KubeHost,
  service: string,
  keep: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const selection = { labels: ownLabels(host.instance, { [label.service]: service }) }
  const leaves = ({ metadata }: KubeObject): boolean => {
    const release = metadata.labels?.[label.release]
    return release !== undefined && release !== keep
  }
  await end(host, selection, leaves, signal)
  if (keep !== undefined) return
  const { items } = await host.kube.list(kinds.service, selection, signal)
  await Promise.all(items.map(({ metadata }) => host.kube.remove(kinds.service, metadata, signal)))
}

/** Ends one release of a service, and removes its objects. */
export const removeRelease = (host: KubeHost, release: Release, signal: AbortSignal): Promise<void> =>
  end(
    host,
    { namespace: namespaceOf(release.environment), labels: labelsOf(release, host.instance) },
    () => true,
    signal,
  )

/**
 * Ends what `leaves` selects: first the programs, then the objects. Decides once, at the beginning:
 * a release that starts meanwhile is another one, and stays.
 */
export async function end(
  host: KubeHost,
  selection: Selection,
  leaves: (object: KubeObject) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const { kube } = host
  const found = await Promise.all(
    kindsOfRelease.map(async (kind) => ({
      kind,
      items: (await listOptional(kube, kind, selection, signal)).filter(leaves),
    })),
  )
  const pods = (await kube.list(kinds.pod, selection, signal)).items.filter(leaves)
  const leaving = new Set([...found.flatMap(({ items }) => items), ...pods].map(unitOf))
  const ends = ({ kind, items }: (typeof found)[number]) =>
    items.map(({ metadata }) => kube.remove(kind, metadata, signal, { uid: metadata.uid }))
  await Promise.all(found.filter(({ kind }) => scalers.includes(kind)).flatMap(ends))
  await Promise.all(found.flatMap(({ kind, items }) => items.map((object) => stop(kube, kind, object, signal))))
  await untilNoPod(host, selection, (pod) => leaving.has(unitOf(pod)), signal)
  failpoint('retire.stopped')
  for (const one of found) await Promise.all(ends(one))
}

/** The release or the run to which an object belongs. */
const unitOf = ({ metadata: { labels } }: KubeObject): string =>
  `${labels?.[label.release] ?? ''} ${labels?.[label.run] ?? ''}`

/** Begins to end the programs of an object, if it has some. */
async function stop({ patch, remove }: Kube, kind: Kind, object: KubeObject, signal: AbortSignal): Promise<void> {
  const { metadata } = object
  if (kind === kinds.job) await remove(kind, metadata, signal, { uid: metadata.uid })
  // Objects of this list are Deployments.
  if (kind !== kinds.deployment || (object as Deployment).spec.replicas === 0) return
  await patch(kind, metadata, { spec: { replicas: 0 } }, signal)
}

async function untilNoPod(
  host: KubeHost,
  selection: Selection,
  leaves: (object: KubeObject) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const reduce = (pod: Pod): boolean => leaves(pod)
  for await (const pods of followObjects(host, { kind: kinds.pod, selection, reduce }, signal)) {
    if (![...pods.values()].includes(true)) return
  }
}

/**
 * Ends these replicas gracefully. Kubernetes chooses which pods leave when a Deployment shrinks, so
 * these get the lowest cost. The new number is computed from the others: a repeated call shrinks
 * nothing twice.
 */
export async function endReplicas(
  host: KubeHost,
  service: string,
  names: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<void> {
  const { kube, instance } = host
  const selection = { labels: ownLabels(instance, { [label.service]: service }) }
  const pods = (await kube.list(kinds.pod, selection, signal)).items.map(toPodState)
  const leaving = pods.filter(({ name }) => names.has(name))
  const staying = leaving.filter(({ isLeaving }) => !isLeaving)
  await Promise.all(
    staying.map(({ namespace, name }) => {
      const change = { metadata: { annotations: { [annotation.deletionCost]: '-1000' } } }
      return kube.patch(kinds.pod, { namespace, name }, change, signal)
    }),
  )
  const deployments = (await kube.list(kinds.deployment, selection, signal)).items.map(toDeploymentState)
  // A service whose last replica ends sleeps, or must not run.
  const endsAll = deployments.some((deployment) => replicasWithout(deployment, pods, names) === 0)
  if (endsAll) await pauseEventScaling(host, selection, true, signal)
  await Promise.all(
    deployments.map(async (deployment) => {
      const replicas = replicasWithout(deployment, pods, names)
      if (replicas === undefined) return
      await kube.patch(kinds.deployment, deployment, { spec: { replicas } }, signal)
    }),
  )
  await untilNoPod(host, selection, ({ metadata }) => names.has(metadata.name), signal)
}

/** Returns how many replicas a release keeps without these pods. Undefined if nothing changes. */
export function replicasWithout(
  { release, replicas }: Pick<DeploymentState, 'release' | 'replicas'>,
  pods: readonly PodState[],
  names: ReadonlySet<string>,
): number | undefined {
  const own = pods.filter((pod) => pod.release === release && !pod.isLeaving)
  if (!own.some(({ name }) => names.has(name))) return undefined
  const kept = Math.min(replicas, own.filter(({ name }) => !names.has(name)).length)
  return kept < replicas ? kept : undefined
}

/** Ends everything of a service and removes its volumes. */
export async function eraseService(host: KubeHost, service: string, signal: AbortSignal): Promise<void> {
  await retireService(host, service, undefined, signal)
  const selection = { labels: ownLabels(host.instance, { [label.service]: service }) }
  const { items } = await host.kube.list(kinds.volumeClaim, selection, signal)
  await Promise.all(items.map(({ metadata }) => host.kube.remove(kinds.volumeClaim, metadata, signal)))
}
