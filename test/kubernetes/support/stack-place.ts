import { kinds } from '../../../server/engines/index.ts'
import { label } from '../../../server/engines/kubernetes/labels.ts'
import { makeEnvironment } from '../../support/application.ts'
import { startServer } from '../../support/server-process.ts'
import type { OpenStackPlace } from '../../support/stack-place.ts'
import { until } from '../../support/until.ts'
import { kubectl, tryTo } from '../cluster/commands.ts'
import { openKube } from './access.ts'
import { addDeployedCluster, clusterSettings } from './add-cluster.ts'

const limit = (): AbortSignal => AbortSignal.timeout(60_000)

/** Opens a place whose stacks run on the test cluster. A container is named by its pod. */
export const openClusterPlace: OpenStackPlace = async (name, settings) => {
  const env = { ...clusterSettings(name), ...settings }
  const server = await startServer({ env })
  const kube = openKube()
  const cluster = await addDeployedCluster(server, 'far')
  const addEnvironment = (other: string) => makeEnvironment(server, other, cluster.id)
  const namespaces = async () => {
    const rows = await server.sql<{ id: string }[]>`select id from environment where cluster_id = ${cluster.id}`
    return rows.map(({ id }) => `quayside-${id}`)
  }
  /** Arguments of kubectl. A container is `namespace/pod`. */
  const at = (container: string): string[] => {
    const [namespace = '', pod = ''] = container.split('/')
    return ['--namespace', namespace, pod]
  }
  const inMain = (container: string, script: string) =>
    tryTo('kubectl', ['exec', ...at(container), '--container', 'main', '--', '/bin/sh', '-c', script])
  return {
    server,
    env,
    environmentId: await addEnvironment(name),
    addEnvironment,
    running: ({ id }, phase) =>
      until(`the ${phase} of stack ${id} runs`, async () => {
        const { items } = await kube.list(kinds.pod, { labels: { [label.service]: id } }, limit())
        const pod = items.find(({ metadata, status }) => {
          const main = status?.containerStatuses?.find((one) => one.name === 'main')
          return metadata.labels?.[label.run]?.endsWith(`-${phase}`) && main?.state?.running
        })
        return pod && `${pod.metadata.namespace}/${pod.metadata.name}`
      }),
    processes: async (container) => (await inMain(container, "cat /proc/[0-9]*/cmdline | tr '\\0' ' '")).stdout,
    inside: async (container, script) => void (await inMain(container, script)),
    remove: async (container) => {
      await kubectl(['delete', 'pod', ...at(container), '--grace-period=0', '--force'])
    },
    close: async () => {
      const left = await namespaces()
      await server.close()
      for (const one of left) await kube.remove(kinds.namespace, { name: one }, limit())
      kube.close()
    },
  }
}
