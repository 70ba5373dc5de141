import { readFile } from 'node:fs/promises'
import { isIP, isIPv6 } from 'node:net'
import { join } from 'node:path'
import { type Database, inTransaction } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { Secret } from '../lib/secret.ts'
import type { Vault } from '../vault/index.ts'
import { organizationOfCluster } from './cluster-store.ts'
import type { ClusterAccess } from './kubeconfig.ts'
import { kubeconfigCell, takeKubeconfig } from './part-store.ts'

/**
 * The one cluster that is reached by the service account of the server's own pod. The operator
 * names it by its id, which nobody can choose: a cluster of the same name elsewhere is another one.
 */
export interface InCluster {
  readonly clusterId: string
  /** `https://host:port`, from the environment of the pod. */
  readonly server: string
  /** Has the files `token` and `ca.crt`. Kubernetes replaces them. */
  readonly directory: string
}

/** Stored in the place of a kubeconfig. Nobody can store it by a request: it is no kubeconfig. */
export const inClusterMark = 'the service account of the server'

/** A token is valid for ten minutes after Kubernetes has replaced it. */
const rereadMs = 10_000

/** Returns the networks that the address guard allows for this cluster alone. */
export function networksOf(inCluster: InCluster | undefined, clusterId: string): string[] {
  if (inCluster?.clusterId !== clusterId) return []
  const host = new URL(inCluster.server).hostname.replace(/^\[|\]$/g, '')
  return isIP(host) === 0 ? [] : [`${host}/${isIPv6(host) ? 128 : 32}`]
}

/** Returns how to reach the cluster. The token is read again as Kubernetes replaces it. */
export async function inClusterAccess({ server, directory }: InCluster, clock: Clock): Promise<ClusterAccess> {
  const read = (name: string): Promise<string> =>
    readFile(join(directory, name), 'utf8').catch((cause: unknown) => {
      const advice = 'Run the server in a pod with automountServiceAccountToken, or remove QUAYSIDE_IN_CLUSTER_ID.'
      throw new AppError('unavailable', `The file ${join(directory, name)} cannot be read. ${advice}`, { cause })
    })
  let last: { readonly token: Secret; readonly atMs: number } | undefined
  return {
    server,
    authority: await read('ca.crt'),
    readToken: async () => {
      if (!last || clock.monotonic() - last.atMs > rereadMs) {
        last = { token: new Secret((await read('token')).trim()), atMs: clock.monotonic() }
      }
      return last.token
    },
  }
}

/** Marks the cluster as one that can be reached, if it exists and has no kubeconfig. */
export async function adoptInCluster(
  { database, vault, clock }: { readonly database: Database; readonly vault: Vault; readonly clock: Clock },
  inCluster: InCluster | undefined,
): Promise<void> {
  if (!inCluster) return
  const id = inCluster.clusterId
  const organizationId = await organizationOfCluster(database, id)
  if (organizationId === undefined) return
  await inTransaction(database, async (sql) => {
    await takeKubeconfig(sql, id, () => vault.seal(sql, organizationId, kubeconfigCell(id), inClusterMark), clock.now())
  })
}
