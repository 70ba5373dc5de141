import { passingClusterStates } from '@quayside/contract/states.ts'
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { inOrganization } from './reads-organization.ts'

// The reads of clusters. Their keys begin like the list of clusters, which an event makes old.

export type Cluster = Awaited<ReturnType<typeof api.listOrganizationCluster>>['results'][number]
export type ClusterStatus = Awaited<ReturnType<typeof api.getClusterStatus>>
export type ClusterLine = Awaited<ReturnType<typeof api.listClusterLogs>>['results'][number]
export type ClusterEnvironment = Awaited<ReturnType<(typeof api)['get-environments-by-cluster-id']>>['results'][number]

export const aboutClusters = (organizationId: string, ...what: readonly string[]) =>
  inOrganization(organizationId, 'clusters', ...what)

export const clusterStatuses = (organizationId: string) =>
  queryOptions({
    queryKey: aboutClusters(organizationId, 'statuses'),
    queryFn: async () => (await api.getOrganizationClusterStatus({ organizationId })).results,
  })

/** The lines of the last operations, oldest first. No event reports a line, only their end. */
export const clusterLines = (organizationId: string, clusterId: string, isPassing: boolean) =>
  queryOptions({
    queryKey: aboutClusters(organizationId, clusterId, 'lines'),
    queryFn: async () => (await api.listClusterLogs({ organizationId, clusterId })).results,
    refetchInterval: isPassing ? 1_000 : false,
  })

/** No event reports that an environment was created on a cluster. */
export const clusterEnvironments = (organizationId: string, clusterId: string) =>
  queryOptions({
    queryKey: aboutClusters(organizationId, clusterId, 'environments'),
    queryFn: async () => (await api['get-environments-by-cluster-id']({ clusterId })).results,
    staleTime: 0,
  })

/** The domain of a cluster's services, without the secrets of its DNS provider. */
export const clusterDns = (organizationId: string, clusterId: string) =>
  queryOptions({
    queryKey: aboutClusters(organizationId, clusterId, 'dns'),
    queryFn: async () => (await api.getClusterDnsProvider({ clusterId })).dns_provider,
  })

/** The disk of the machine, measured by the server. Needs the right to manage clusters. */
export const diskUsage = ({ organizationId, clusterId }: { organizationId: string; clusterId: string }) =>
  queryOptions({
    queryKey: aboutClusters(organizationId, clusterId, 'disk'),
    queryFn: () => api.getClusterDiskUsage({ organizationId, clusterId }),
    staleTime: 0,
  })

/** Pure: whether an operation is in progress. */
export const isPassing = ({ status }: ClusterStatus): boolean => passingClusterStates.some((one) => one === status)

/** Pure: why an operation cannot begin now. Undefined if it can. */
export function clusterRefusal(status: ClusterStatus): string | undefined {
  if (status.cluster_lock) return `it is locked by ${status.cluster_lock.owner_name}: ${status.cluster_lock.reason}`
  return isPassing(status) ? 'another operation is in progress' : undefined
}

/** One operation on a cluster with its lines. */
export interface ClusterOperation {
  readonly at: string
  readonly lines: readonly ClusterLine[]
}

/** Pure: the operations that the lines belong to, newest first. Each begins with its request. */
export function operationsOf(lines: readonly ClusterLine[]): readonly ClusterOperation[] {
  const operations: { at: string; lines: ClusterLine[] }[] = []
  for (const line of lines) {
    const last = operations.at(-1)
    if (!last || line.step === 'LoadConfiguration') operations.push({ at: line.timestamp, lines: [line] })
    else last.lines.push(line)
  }
  return operations.reverse()
}
