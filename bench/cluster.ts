import { type Kube, kinds, label } from '../server/engines/index.ts'
import { openKube } from '../test/kubernetes/support/access.ts'
import { type AddedCluster, addCluster } from '../test/kubernetes/support/add-cluster.ts'
import { ask } from './http.ts'
import type { Installation } from './installation.ts'
import { until } from './until.ts'

const limit = (): AbortSignal => AbortSignal.timeout(120_000)

/** Connects the cluster of the tests to an installation. */
export async function connectCluster(
  installation: Installation,
  { hasDomain }: { readonly hasDomain: boolean },
): Promise<AddedCluster> {
  const { results } = await installation.api('GET', '/organization')
  const organization: unknown = Array.isArray(results) ? results[0] : undefined
  const token = await installation.token()
  const headers = { authorization: `Bearer ${token}` }
  const cluster = await addCluster(
    {
      organizationId: String(Object(organization).id),
      apiUrl: `http://127.0.0.1:${installation.port}`,
      token,
      // Callers name the shape that the contract promises.
      must: async <T>(...call: Parameters<Installation['api']>) => (await installation.api(...call)) as T,
      api: async <T>(method: string, path: string) => {
        const { status, body } = await ask({ port: installation.port, path, method, headers })
        return { status, body: JSON.parse(body) as T }
      },
    },
    'bench',
  )
  await cluster.connect()
  if (hasDomain) {
    const body = { dns_provider: { provider: 'QOVERY', domain: 'apps.bench.test' } }
    await installation.api('PUT', `/cluster/${cluster.id}/dnsProvider`, body)
  }
  const { status, lines } = await cluster.deploy()
  if (status !== 'DEPLOYED') throw new Error(`the cluster is not deployed: ${lines}`)
  return cluster
}

/** Returns the namespaces of one record of a cluster, whose label ends with a part of its id. */
export async function namespacesOf(kube: Kube, cluster: string): Promise<readonly string[]> {
  const { items } = await kube.list(kinds.namespace, { labels: { [label.manager]: 'quayside' } }, limit())
  const suffix = `-${cluster.slice(-12)}`
  return items
    .filter(({ metadata }) => metadata.labels?.[label.instance]?.endsWith(suffix))
    .map(({ metadata }) => metadata.name)
}

/** Removes everything of a record of a cluster from the cluster. */
export async function removeFrom(cluster: string): Promise<void> {
  const kube = openKube()
  try {
    for (const name of await namespacesOf(kube, cluster)) await kube.remove(kinds.namespace, { name }, limit())
    const isGone = async () => (await namespacesOf(kube, cluster)).length === 0
    await until('the namespaces are gone', isGone, { limitMs: 120_000 })
  } finally {
    kube.close()
  }
}
