import { randomBytes } from 'node:crypto'
import { AppError } from '../../lib/error.ts'
import { namespaceKind, statusOf } from '../ingress/kube-objects.ts'
import { findSecret } from './find-secret.ts'
import { type PodKube, podKinds } from './pod-kube.ts'
import {
  keySecret,
  keySecretName,
  type RouterObjectSetting,
  routerName,
  routerNamespace,
  routerObjects,
} from './router-objects.ts'

interface Metadata {
  readonly labels?: Readonly<Record<string, string>>
  readonly deletionTimestamp?: string
}

/** Creates the objects of the routers, or brings them to these settings. Safe to repeat. */
export async function installRouter(kube: PodKube, setting: RouterObjectSetting, signal: AbortSignal): Promise<void> {
  await ensureNamespace(kube, setting, signal)
  await readKey(kube, setting, signal)
  for (const object of routerObjects(setting)) await kube.apply(object, signal)
}

async function ensureNamespace(kube: PodKube, setting: RouterObjectSetting, signal: AbortSignal): Promise<void> {
  const { namespace: name, labels } = setting
  const found = await kube.get(namespaceKind, { name }, signal)
  if (!found) {
    await kube.create(routerNamespace(setting), signal)
    return
  }
  // Namespaces of this API have these members.
  const metadata = found.metadata as Metadata
  if (!Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value)) {
    throw new AppError('conflict', `The namespace ${name} of the cluster belongs to somebody else. Remove it.`)
  }
  if (metadata.deletionTimestamp !== undefined) {
    throw new AppError('unavailable', `The namespace ${name} of the cluster is still being deleted.`)
  }
}

/** Returns the key of control requests. Creates one if the cluster has none. */
export async function readKey(kube: PodKube, setting: RouterObjectSetting, signal: AbortSignal): Promise<string> {
  const found = await findSecret(kube, setting, keySecretName, signal)
  const known = found?.data?.['key']
  if (known !== undefined) return Buffer.from(known, 'base64').toString()
  const key = randomBytes(32).toString('base64url')
  try {
    await kube.create(keySecret(setting, key), signal)
    return key
  } catch (error) {
    // Another process created one at the same time.
    if (statusOf(error) !== 409) throw error
    return readKey(kube, setting, signal)
  }
}

/** Whether the cluster has the routers of this installation. */
export async function isInstalled(
  kube: PodKube,
  { namespace, labels }: Pick<RouterObjectSetting, 'namespace' | 'labels'>,
  signal: AbortSignal,
): Promise<boolean> {
  const found = await kube.get(podKinds.deployment, { namespace, name: routerName }, signal)
  return found !== undefined && Object.entries(labels).every(([key, value]) => found.metadata.labels?.[key] === value)
}
