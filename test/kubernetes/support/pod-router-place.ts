import assert from 'node:assert/strict'
import { kinds } from '../../../server/engines/kubernetes/client/index.ts'
import { instanceOn, ownLabels } from '../../../server/engines/kubernetes/labels.ts'
import { makeApplication, makeEnvironment, type TestApplication } from '../../support/application.ts'
import { type ServerProcess, startServer } from '../../support/server-process.ts'
import { until } from '../../support/until.ts'
import { openKube, removeNamespaces } from './access.ts'
import { type AddedCluster, addCluster, clusterSettings } from './add-cluster.ts'
import { publishRouterImage } from './router-image.ts'

/** The ports of the routers at the node. */
export const routerPorts = { plain: 31_080, tls: 31_443 } as const

/** A router that gets requests. */
export interface ReadyPod {
  readonly name: string
  readonly address: string
}

/** A server whose cluster has a domain of its own and the platform's routers, which speak HTTPS. */
export interface PodRouterPlace {
  readonly server: ServerProcess
  readonly cluster: AddedCluster
  readonly kube: ReturnType<typeof openKube>
  /** The settings of the server. */
  readonly env: Readonly<Record<string, string>>
  /** The namespace of the routers. */
  readonly namespace: string
  /** Makes an application on the cluster, in an environment that all of them share. */
  application(name: string, settings?: object): Promise<TestApplication>
  readyPods(): Promise<readonly ReadyPod[]>
  removePod(name: string, options?: { readonly graceSeconds?: number }): Promise<void>
  /** Removes everything of the server from the cluster. Other servers may use its ports then. */
  close(): Promise<void>
}

const limit = (): AbortSignal => AbortSignal.timeout(60_000)

/**
 * Starts a server and deploys its cluster. `folder` is that of its images. `env` has further
 * settings of the server.
 */
export async function openPodRouterPlace({
  folder,
  domain,
  env: more,
}: {
  readonly folder: string
  readonly domain: string
  readonly env: Readonly<Record<string, string>>
}): Promise<PodRouterPlace> {
  const env = {
    ...clusterSettings(folder),
    QUAYSIDE_CLUSTER_ROUTER_IMAGE: await publishRouterImage(folder),
    QUAYSIDE_CLUSTER_ROUTER_SERVICE: `NodePort:${routerPorts.plain}:${routerPorts.tls}`,
    QUAYSIDE_CLUSTER_ROUTER_TLS: 'on',
    QUAYSIDE_CLUSTER_INGRESS_CLASS: 'none',
    QUAYSIDE_DOMAIN_PROOF: 'waived',
    ...more,
  }
  const kube = openKube()
  const server = await startServer({ env })
  const cluster = await addCluster(server, 'far')
  const instance = instanceOn(server.instance, cluster.id)
  const namespace = `quayside-router-${instance}`
  const close = async (): Promise<void> => {
    // A server that runs would create its routers again.
    await server.close()
    await removeNamespaces(kube, instance)
    const list = async () => (await kube.list(kinds.namespace, { labels: ownLabels(instance) }, limit())).items
    await until('the namespaces are gone', async () => (await list()).length === 0, { limitMs: 120_000 })
    kube.close()
  }
  try {
    await cluster.connect()
    await server.must('PUT', `/cluster/${cluster.id}/dnsProvider`, { dns_provider: { provider: 'QOVERY', domain } })
    const { status, lines } = await cluster.deploy()
    assert.equal(status, 'DEPLOYED', lines)
    const environmentId = await makeEnvironment(server, 'far', cluster.id)
    const few = { cpu: 50, min_running_instances: 1, max_running_instances: 1 }
    return {
      ...{ server, cluster, kube, env, namespace, close },
      application: (name, settings = {}) =>
        makeApplication(server, { environmentId, name, settings: { ...few, ...settings } }),
      readyPods: async () => {
        const { items } = await kube.list(kinds.pod, { namespace }, limit())
        return items.flatMap(({ metadata, status: { conditions, podIP = '' } = {} }) => {
          const isReady = conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True')
          const isLeft = !isReady || metadata.deletionTimestamp !== undefined
          return isLeft ? [] : [{ name: metadata.name, address: podIP }]
        })
      },
      removePod: async (name, options) => {
        await kube.remove(kinds.pod, { namespace, name }, limit(), options)
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}
