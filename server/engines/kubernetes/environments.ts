import { EngineError } from '../engine.ts'
import { isKubeError, type Kind, type KubeObject, kinds, type Namespace } from './client/index.ts'
import { environmentNamespace, environmentPolicies } from './environment-objects.ts'
import { followObjects } from './follow-objects.ts'
import type { KubeHost } from './host.ts'
import { label, ownLabels } from './labels.ts'
import { namespaceOf } from './names.ts'
import { pullSecret, pullSecretName } from './pull-secret.ts'

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
  const { kube, instance, registry } = host
  const name = namespaceOf(environment)
  const found = await kube.get(kinds.namespace, { name }, signal)
  if (found) refuseForeign(instance, found)
  if (found?.metadata.deletionTimestamp !== undefined) await untilGone(host, found, signal)
  const isPresent = found !== undefined && found.metadata.deletionTimestamp === undefined
  if (!isPresent) await kube.apply(environmentNamespace(environment, instance), signal)
  const login = await registry?.login()
  const secret =
    registry && login ? [pullSecret(environment, instance, { repository: registry.repository, login })] : []
  const objects = [...environmentPolicies(environment, instance), ...secret]
  await Promise.all(objects.map((object) => applySoon(host, object, signal)))
  return { instance, pullSecret: login && pullSecretName, helperImage: host.helperImage }
}

/** The values to which the objects of an environment refer. */
export interface EnvironmentSetting {
  readonly instance: string
  readonly pullSecret: string | undefined
  readonly helperImage: string
}

/** How long an API server may take to notice that a namespace was created again. */
const noticeMs = 10_000

/**
 * Applies an object in a namespace that may just have been created again. The API server refuses
 * objects in it until its own cache has forgotten the deleted one.
 */
async function applySoon({ kube, clock }: KubeHost, object: KubeObject, signal: AbortSignal): Promise<void> {
  const endMs = clock.monotonic() + noticeMs
  for (;;) {
    try {
      await kube.apply(object, signal)
      return
    } catch (error) {
      const isStale = isKubeError(error, 403) && error.message.includes('being terminated')
      if (!isStale || clock.monotonic() > endMs) throw error
      await clock.sleep(100, signal)
    }
  }
}

function refuseForeign(instance: string, { metadata }: Namespace): void {
  if (metadata.labels?.[label.instance] === instance) return
  throw new EngineError(
    'refused',
    `the namespace ${metadata.name} of the cluster belongs to somebody else: it lacks the label ${label.instance} of ` +
      'this installation; remove it',
  )
}

/**
 * Waits until a namespace that is being deleted is gone. Says what keeps it if that takes too long.
 */
async function untilGone({ kube }: KubeHost, { metadata, status }: Namespace, signal: AbortSignal): Promise<void> {
  const wish = {
    kind: kinds.namespace,
    selection: { fields: `metadata.name=${metadata.name}` },
    reduce: (one: Namespace) => one.metadata.uid,
  }
  try {
    for await (const objects of followObjects(kube, wish, signal)) {
      if (![...objects.values()].includes(metadata.uid)) return
    }
  } catch (error) {
    if (!signal.aborted) throw error
    const kept = status?.conditions?.find(({ type, status: is }) => type.includes('Remaining') && is === 'True')
    const why = kept?.message ?? 'objects in it are not deleted yet'
    throw new EngineError('refused', `the namespace ${metadata.name} is still being deleted: ${why}`, { cause: error })
  }
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
