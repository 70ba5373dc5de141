import type { KubeObject } from '../ingress/kube-objects.ts'
import { type PodKube, podKinds } from './pod-kube.ts'
import type { RouterObjectSetting } from './router-objects.ts'

interface SecretObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

/** Returns a Secret of the routers. Undefined if it does not exist. */
export const findSecret = async (
  kube: PodKube,
  { namespace }: Pick<RouterObjectSetting, 'namespace'>,
  name: string,
  signal: AbortSignal,
): Promise<SecretObject | undefined> =>
  // The object of this path is a Secret.
  (await kube.get(podKinds.secret, { namespace, name }, signal)) as SecretObject | undefined
