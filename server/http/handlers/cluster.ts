import { visible } from '../../access/index.ts'
import type { Handlers } from '../call.ts'
import type { Rooms } from './rooms.ts'

const idOf = (ids: readonly string[]): string => ids[0] ?? ''

/** The disk usage that is returned before the first measurement. */
const notMeasured = { measured_at: null, disk_bytes: 0, disk_free_bytes: 0, budget_bytes: 0, parts: [] }

/** Handlers for clusters and their parts. */
export const clusterHandlers = ({ clusters, disk, organizationDisk }: Rooms) => {
  const { parts, locks, operations } = clusters
  return {
    listClusters: async ({ target }) => ({ results: await clusters.list(target.id) }),
    createCluster: ({ target, body }) => clusters.create(target, body),
    editCluster: ({ target, ids, body }) => clusters.edit(target.id, idOf(ids), body),
    deleteCluster: async ({ target, ids, caller, query }) =>
      void (await operations.remove(target.id, idOf(ids), caller, query)),
    listClusterStatuses: async ({ target }) => ({ results: await clusters.statuses(target.id) }),
    getClusterStatus: ({ target, ids }) => clusters.status(target.id, idOf(ids)),
    getClusterReadiness: ({ target, ids }) => clusters.readiness(target.id, idOf(ids)),
    getCloudProviderInfo: ({ target, ids }) => clusters.cloudProviderInfo(target.id, idOf(ids)),
    setCloudProviderInfo: ({ target, ids, body }) => clusters.setCloudProviderInfo(target.id, idOf(ids), body),

    getInstallationHelmValues: ({ target, ids }) => parts.helmValues(target.id, idOf(ids)),
    getKubeconfig: ({ target, ids, query }) => parts.kubeconfig(target.id, idOf(ids), query.read_only === true),
    setKubeconfig: async ({ target, ids, body }) => void (await parts.setKubeconfig(target.id, idOf(ids), body)),
    getDefaultClusterSettings: async () => parts.defaultSettings(),
    getClusterSettings: ({ target, ids }) => parts.advancedSettings(target.id, idOf(ids)),
    editClusterSettings: ({ target, ids, body }) => parts.setAdvancedSettings(target.id, idOf(ids), body),
    getRoutingTable: async ({ target, ids }) => ({ results: [...(await parts.routes(target.id, idOf(ids)))] }),
    editRoutingTable: async ({ target, ids, body }) => ({
      results: [...(await parts.setRoutes(target.id, idOf(ids), body.routes))],
    }),
    getDnsProvider: async ({ target }) => parts.dnsProvider(target),
    setDnsProvider: ({ target, body }) => parts.setDnsProvider(target, body.dns_provider),
    listClusterEnvironments: async ({ target, caller }) => {
      const { environment } = visible(caller)
      const environments = await parts.environments(target)
      return { results: environments.filter(({ project_id, mode }) => environment(project_id, mode)) }
    },

    getClusterDiskUsage: async ({ target, ids }) => {
      await clusters.requireDisk(target.id, idOf(ids))
      const [usage, organization] = await Promise.all([disk.usage(), organizationDisk.usage(target.id)])
      return { ...(usage ?? notMeasured), organization }
    },

    listClusterLocks: async ({ target }) => ({ results: await locks.list(target.id) }),
    lockCluster: ({ target, caller, body }) => locks.lock(target, caller.name, body),
    unlockCluster: async ({ target }) => void (await locks.unlock(target)),

    listClusterLogs: async ({ target, ids }) => ({ results: await operations.logs(target.id, idOf(ids)) }),
    deployCluster: ({ target, ids, caller, query }) =>
      operations.deploy(target.id, idOf(ids), caller.name, query.dry_run === true),
    upgradeCluster: ({ target, caller }) => operations.upgrade(target, caller.name),
    stopCluster: ({ target, ids, caller }) => operations.stop(target.id, idOf(ids), caller),
  } satisfies Partial<Handlers>
}
