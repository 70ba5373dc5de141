import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createKube, type Kube, type KubeAccess, kinds } from '../../../server/engines/kubernetes/client/index.ts'
import { ownLabels } from '../../../server/engines/kubernetes/labels.ts'
import { type AddressGuard, createAddressGuard } from '../../../server/lib/address.ts'
import { Secret } from '../../../server/lib/secret.ts'
import { until } from '../../support/until.ts'
import { addresses, pki, ports } from '../cluster/settings.ts'

/** A guard of an operator who listed the loopback device and the network of the pods. */
export const loopbackGuard: AddressGuard = createAddressGuard({ allowedPrivateCidrs: ['127.0.0.0/8', addresses.pods] })

/** Returns how an administrator reaches the test cluster. */
export async function adminAccess(): Promise<KubeAccess> {
  const [authority, certificate, key] = await Promise.all(
    ['ca.crt', 'admin.crt', 'admin.key'].map((name) => readFile(join(pki, name), 'utf8')),
  )
  return { server: `https://127.0.0.1:${ports.api}`, authority, certificate, key: new Secret(key ?? '') }
}

/** Returns a client of the test cluster with all rights, or with other credentials. */
export const openKube = (change: Partial<KubeAccess> = {}, guard: AddressGuard = loopbackGuard): Kube =>
  createKube({ access: async () => ({ ...(await adminAccess()), ...change }), guard })

/** Waits until the namespace of an environment is gone. */
export const untilNamespaceGone = async (kube: Kube, environmentId: string): Promise<void> => {
  const at = { name: `quayside-${environmentId}` }
  const isGone = async () => (await kube.get(kinds.namespace, at, AbortSignal.timeout(60_000))) === undefined
  await until('its namespace is gone', isGone, { limitMs: 120_000 })
}

/** Removes the namespaces of a server on a cluster, and everything in them. */
export async function removeNamespaces(kube: Kube, instance: string): Promise<void> {
  const signal = AbortSignal.timeout(60_000)
  const { items } = await kube.list(kinds.namespace, { labels: ownLabels(instance) }, signal)
  await Promise.all(items.map(({ metadata }) => kube.remove(kinds.namespace, metadata, signal)))
}
