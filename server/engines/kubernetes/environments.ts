import { startDeadline } from '../../lib/deadline.ts'
import { everyOne } from '../../lib/every-one.ts'
import { parseId } from '../../lib/id.ts'
import { EngineError } from '../engine.ts'
import {
  type Condition,
  isKubeError,
  type Kind,
  type KubeObject,
  kinds,
  type Namespace,
  plain,
} from './client/index.ts'
import { applyMarked } from './drift.ts'
import {
  environmentLimits,
  environmentNamespace,
  environmentPolicies,
  environmentQuota,
} from './environment-objects.ts'
import { followObjects } from './follow-objects.ts'
import type { KubeHost } from './host.ts'
import { label, ownLabels } from './labels.ts'
import { namespaceOf } from './names.ts'
import { refuseForeign } from './own-objects.ts'
import { pullSecret, pullSecretName } from './pull-secret.ts'
import { labelsOfCluster } from './users-labels.ts'

/**
 * Creates the namespace of an environment with its rules, or brings it to this version. Waits for
 * one of that name that is still being deleted. Returns what its objects refer to. Throws
 * EngineError('refused') if a namespace of somebody else has its name.
 */
export async function ensureEnvironment(
  host: KubeHost,
  environment: string,
  signal: AbortSignal,
): Promise<EnvironmentSetting> {
  const { kube, instance } = host
  const name = namespaceOf(environment)
  const found = await kube.get(kinds.namespace, { name }, signal)
  refuseForeign(instance, found)
  if (found?.metadata.deletionTimestamp !== undefined) await untilGone(host, found, signal)
  const { namespace, objects, limits, setting } = await environmentContents(host, environment)
  await applyMarked(host, namespace, signal)
  await everyOne([...objects.map((object) => applySoon(host, object, signal)), limitEnvironment(host, limits, signal)])
  return setting
}

/** The objects in the namespace of an environment, and what others refer to. */
export interface EnvironmentContents {
  readonly namespace: KubeObject
  readonly objects: readonly KubeObject[]
  /** Those for which the user of the cluster may lack the right. */
  readonly limits: readonly KubeObject[]
  readonly setting: EnvironmentSetting
}

export async function environmentContents(
  { instance, registry, helperImage, leaveSeconds, clusterLabels }: KubeHost,
  environment: string,
): Promise<EnvironmentContents> {
  const [login, labels = {}] = await Promise.all([registry?.login(), clusterLabels?.()])
  const secret =
    registry && login ? [pullSecret(environment, instance, { repository: registry.repository, login })] : []
  const objects = [...environmentPolicies(environment, instance), ...secret]
  const limits = [environmentLimits(environment, instance), environmentQuota(environment, instance)]
  const { taken } = labelsOfCluster(labels)
  return {
    namespace: environmentNamespace(environment, instance, [...objects, ...limits], taken),
    objects,
    limits,
    setting: { instance, pullSecret: login && pullSecretName, helperImage, leaveSeconds },
  }
}

/** The values to which the objects of an environment refer. */
export interface EnvironmentSetting {
  readonly instance: string
  readonly pullSecret: string | undefined
  readonly helperImage: string
  readonly leaveSeconds: number | undefined
}

/** How long an API server may take to notice that a namespace was created again. */
const noticeMs = 10_000

/**
 * Applies an object in a namespace that may just have been created again. The API server refuses
 * objects in it until its own cache has forgotten the deleted one.
 */
async function applySoon(host: KubeHost, object: KubeObject, signal: AbortSignal): Promise<void> {
  const { clock } = host
  const endMs = clock.monotonic() + noticeMs
  for (;;) {
    try {
      await applyMarked(host, object, signal)
      return
    } catch (error) {
      const isStale = isKubeError(error, 403) && error.message.includes('being terminated')
      if (!isStale || clock.monotonic() > endMs) throw error
      await clock.sleep(100, signal)
    }
  }
}

/** How long a cluster may take to count the objects of a namespace for the first time. */
const countMs = 10_000

/**
 * Limits the objects of an environment. Until the cluster has counted them it refuses every new
 * one, so this waits for it. A user without the right to limits leaves environments without them,
 * which the check of the cluster reports.
 */
async function limitEnvironment(host: KubeHost, limits: readonly KubeObject[], signal: AbortSignal): Promise<void> {
  try {
    for (const object of limits) await applySoon(host, object, signal)
  } catch (error) {
    if (isKubeError(error, 403)) return
    throw error
  }
  await untilCounted(host, limits, signal)
}

/** Waits until the cluster counts what the quota among these objects limits, but not for long. */
export async function untilCounted(
  { kube, clock }: KubeHost,
  limits: readonly KubeObject[],
  signal: AbortSignal,
): Promise<void> {
  const endMs = clock.monotonic() + countMs
  const [quota] = limits.filter(({ kind }) => kind === kinds.resourceQuota.kind)
  const isCounted = async (): Promise<boolean> => {
    const { spec, status } = (quota && (await kube.get(kinds.resourceQuota, quota.metadata, signal))) ?? {}
    return Object.entries(spec?.hard ?? {}).every(([name, most]) => status?.hard?.[name] === most)
  }
  while (!(await isCounted()) && clock.monotonic() < endMs) await clock.sleep(100, signal)
}

/** A namespace without content is gone within seconds. */
const goneMs = 60_000

/**
 * Waits until a namespace that is being deleted is gone. Throws EngineError('refused') with what
 * keeps it if that takes too long.
 */
async function untilGone(host: KubeHost, { metadata }: Namespace, outer: AbortSignal): Promise<void> {
  const wish = {
    kind: kinds.namespace,
    selection: { fields: `metadata.name=${metadata.name}` },
    reduce: ({ metadata: { uid }, status }: Namespace) => ({ uid, why: whyKept(status?.conditions ?? []) }),
  }
  const deadline = startDeadline(goneMs, outer)
  let why: string | undefined
  try {
    for await (const objects of followObjects(host, wish, deadline.signal)) {
      const left = [...objects.values()].find(({ uid }) => uid === metadata.uid)
      if (!left) return
      why = left.why
    }
  } catch (error) {
    outer.throwIfAborted()
    if (!deadline.isOver) throw error
    const message =
      `the namespace ${metadata.name} is still being deleted: ${why ?? 'objects in it are not deleted yet'}; remove ` +
      'what keeps it, and deploy again'
    throw new EngineError('refused', message, { cause: error })
  }
}

/** The sentences of Kubernetes about what keeps a namespace: what is left, and who holds it. */
function whyKept(conditions: readonly Condition[]): string | undefined {
  const kept = conditions.filter(({ type, status }) => type.includes('Remaining') && status === 'True')
  return kept.length === 0 ? undefined : kept.map(({ message = '' }) => plain(message)).join('; ')
}

/** Lists the environments that have a namespace of this installation that is not being deleted. */
export async function listEnvironments({ kube, instance }: KubeHost, signal: AbortSignal): Promise<string[]> {
  const { items } = await kube.list(kinds.namespace, { labels: ownLabels(instance) }, signal)
  return items.flatMap(({ metadata: { name, labels, deletionTimestamp } }) => {
    const id = parseId(labels?.[label.environment] ?? '')
    // Somebody else may have changed the labels.
    return id !== undefined && namespaceOf(id) === name && deletionTimestamp === undefined ? [id] : []
  })
}

/** Removes the namespace of an environment, unless something of ours is in it. */
export async function eraseEnvironment(
  { kube, instance }: KubeHost,
  environment: string,
  signal: AbortSignal,
): Promise<void> {
  const name = namespaceOf(environment)
  const found = await kube.get(kinds.namespace, { name }, signal)
  if (found?.metadata.labels?.[label.instance] !== instance || found.metadata.deletionTimestamp !== undefined) return
  const selection = { namespace: name, labels: ownLabels(instance) }
  const kept: readonly Kind[] = [kinds.deployment, kinds.job, kinds.volumeClaim, kinds.pod]
  const lists = await Promise.all(kept.map((kind) => kube.list(kind, selection, signal)))
  const isUsed = lists.some(({ items }) => items.some(({ metadata }) => metadata.deletionTimestamp === undefined))
  if (isUsed) return
  try {
    await kube.remove(kinds.namespace, { name }, signal, { uid: found.metadata.uid })
  } catch (error) {
    // It is being deleted already.
    if (!isKubeError(error, 409)) throw error
  }
}
