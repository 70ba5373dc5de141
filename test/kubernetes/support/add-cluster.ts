import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { ServerProcess } from '../../support/server-process.ts'
import { until } from '../../support/until.ts'
import { imageName } from '../cluster/build.ts'
import { addresses, kubeconfig, ports } from '../cluster/settings.ts'

/**
 * The settings of a server that uses the test cluster. Its images are in a folder of the registry.
 */
export const clusterSettings = (folder: string): Record<string, string> => ({
  QUAYSIDE_ALLOW_PRIVATE_TARGETS: `127.0.0.0/8,${addresses.pods}`,
  QUAYSIDE_CLUSTER_REGISTRY: `localhost:${ports.registry}/${folder}`,
  QUAYSIDE_CLUSTER_TOOLS_IMAGE: imageName('tools'),
})

/** The test cluster as a server under test knows it. */
export interface AddedCluster {
  readonly id: string
  /** The path of the cluster in the API. */
  readonly path: string
  putKubeconfig(text: string): Promise<{ readonly status: number; readonly message: string }>
  /** Stores the kubeconfig of an administrator. */
  connect(): Promise<void>
  /** Deploys the cluster. Returns its state after that and the lines of its log. */
  deploy(): Promise<{ readonly status: string; readonly lines: string }>
}

/** The calls of the API that a cluster needs. */
export type ClusterCaller = Pick<ServerProcess, 'organizationId' | 'apiUrl' | 'token' | 'api' | 'must'>

/** Creates the record of a cluster. */
export async function addCluster(server: ClusterCaller, name: string): Promise<AddedCluster> {
  const clusters = `/organization/${server.organizationId}/cluster`
  const body = { name, region: 'here', cloud_provider: 'ON_PREMISE', kubernetes: 'SELF_MANAGED' }
  const { id } = await server.must<{ id: string }>('POST', clusters, body)
  const path = `${clusters}/${id}`
  const status = async (): Promise<string> => (await server.must<{ status: string }>('GET', `${path}/status`)).status
  const putKubeconfig = async (text: string) => {
    const answer = await fetch(`${server.apiUrl}${path}/kubeconfig`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/x-yaml' },
      body: text,
    })
    return { status: answer.status, message: await answer.text() }
  }
  return {
    id,
    path,
    putKubeconfig,
    connect: async () => {
      const stored = await putKubeconfig(await readFile(kubeconfig, 'utf8'))
      assert.equal(stored.status, 204, stored.message)
    },
    deploy: async () => {
      // The server connects to it within a second.
      await until('the deployment is accepted', async () => (await server.api('POST', `${path}/deploy`)).status < 300)
      await until('the cluster is deployed', async () => ['DEPLOYED', 'DEPLOYMENT_ERROR'].includes(await status()))
      const { results } = await server.must<{ results: { message: { safe_message: string } }[] }>('GET', `${path}/logs`)
      const lines = results.map(({ message }) => message.safe_message).join('\n')
      return { status: await status(), lines }
    },
  }
}

/** Creates, connects and deploys a cluster. Throws with the lines of its log if that fails. */
export async function addDeployedCluster(server: ClusterCaller, name: string): Promise<AddedCluster> {
  const cluster = await addCluster(server, name)
  await cluster.connect()
  const { status, lines } = await cluster.deploy()
  assert.equal(status, 'DEPLOYED', lines)
  return cluster
}
