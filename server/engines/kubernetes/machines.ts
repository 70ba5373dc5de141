import type { MachineCondition, MachineReport } from '../engine.ts'
import { machineOf, quantity } from './capacity.ts'
import { isKubeError, kinds, type Node, type Pod, plain } from './client/index.ts'
import type { KubeHost } from './host.ts'

interface Measured {
  readonly metadata: { readonly name: string }
  readonly usage: Readonly<Record<string, string>>
}

/** Pods that have ended reserve nothing. */
const unended = 'status.phase!=Succeeded,status.phase!=Failed'

/**
 * Returns the nodes of a cluster with the pods of everybody and the use that the metrics API
 * reports. Without that API, or without the right to read it, the use is unknown.
 */
export async function readMachines(
  { kube }: Pick<KubeHost, 'kube'>,
  nodes: readonly Node[],
  signal: AbortSignal,
): Promise<MachineReport[]> {
  const [pods, answer] = await Promise.all([
    kube.list(kinds.pod, { fields: unended }, signal),
    kube.raw('/apis/metrics.k8s.io/v1beta1/nodes', signal).catch((error: unknown) => {
      if (isKubeError(error, 403, 404, 503)) return { items: [] }
      throw error
    }),
  ])
  // The shape is that of the metrics API.
  const measured = new Map((Object(answer).items as Measured[]).map((one) => [one.metadata.name, one.usage]))
  return machinesOf(nodes, pods.items, measured)
}

/** Pure: the nodes in the order of their names, with what runs on each. */
export function machinesOf(
  nodes: readonly Node[],
  pods: readonly Pod[],
  measured: ReadonlyMap<string, Readonly<Record<string, string>>>,
): MachineReport[] {
  const podsOf = Map.groupBy(pods, ({ spec }) => spec.nodeName ?? '')
  return nodes
    .map((node) => toMachine(node, podsOf.get(node.metadata.name) ?? [], measured.get(node.metadata.name)))
    .toSorted((one, other) => one.name.localeCompare(other.name))
}

function toMachine(
  node: Node,
  pods: readonly Pod[],
  usage: Readonly<Record<string, string>> | undefined,
): MachineReport {
  const { metadata, spec, status } = node
  const { name, ...allocatable } = machineOf(node)
  const { nodeInfo } = status ?? {}
  const limit = quantity(status?.allocatable?.['pods'])
  return {
    name,
    architecture: nodeInfo?.architecture ?? '',
    kernelVersion: nodeInfo?.kernelVersion ?? '',
    operatingSystem: nodeInfo?.operatingSystem ?? '',
    distribution: nodeInfo?.osImage ?? '',
    version: nodeInfo?.kubeletVersion ?? '',
    createdAt: metadata.creationTimestamp === undefined ? undefined : new Date(metadata.creationTimestamp),
    isSchedulable: spec?.unschedulable !== true,
    conditions: (status?.conditions ?? []).map(toCondition),
    capacity: amountsOf(status?.capacity ?? status?.allocatable),
    allocatable,
    requested: sum(pods.map(requestsOf)),
    used: usage && amountsOf(usage),
    pods: pods.length,
    podLimit: limit > 0 ? limit : undefined,
  }
}

const toCondition = ({ type, status, reason, message }: MachineConditionOf): MachineCondition => ({
  type,
  status,
  reason: reason ?? '',
  message: message ?? '',
})
type MachineConditionOf = NonNullable<NonNullable<Node['status']>['conditions']>[number]

/** Thousandths of a core are rounded up, because a pod uses its smallest part, too. */
const amountsOf = (quantities: Readonly<Record<string, string>> | undefined) => ({
  cpuMilli: Math.ceil(quantity(quantities?.['cpu']) * 1000),
  memoryMiB: Math.floor(quantity(quantities?.['memory']) / 1024 ** 2),
})

/** Containers that run before the others reserve the largest of their requests, if it is more. */
function requestsOf({ spec }: Pod) {
  const of = (containers: Pod['spec']['containers']) =>
    containers.map(({ resources }) => amountsOf(resources?.requests))
  const [all, first] = [sum(of(spec.containers)), of(spec.initContainers ?? [])]
  return {
    cpuMilli: Math.max(all.cpuMilli, ...first.map(({ cpuMilli }) => cpuMilli)),
    memoryMiB: Math.max(all.memoryMiB, ...first.map(({ memoryMiB }) => memoryMiB)),
  }
}

const sum = (amounts: readonly { readonly cpuMilli: number; readonly memoryMiB: number }[]) => ({
  cpuMilli: amounts.reduce((total, { cpuMilli }) => total + cpuMilli, 0),
  memoryMiB: amounts.reduce((total, { memoryMiB }) => total + memoryMiB, 0),
})

const mostConditions = 30

/** Pure: keeps the facts about a node that the platform shows or needs. */
export function toNode({ apiVersion, kind, metadata, spec, status }: Node): Node {
  const { name, creationTimestamp } = metadata
  const amounts = (quantities: Readonly<Record<string, string>> | undefined, ...names: readonly string[]) =>
    Object.fromEntries(names.map((resource) => [resource, plain(quantities?.[resource] ?? '')]))
  const info = (key: keyof NodeInfo): string => plain(status?.nodeInfo?.[key] ?? '')
  return {
    apiVersion,
    kind,
    metadata: { name, ...(creationTimestamp !== undefined && { creationTimestamp: plain(creationTimestamp) }) },
    ...(spec?.unschedulable && { spec: { unschedulable: true } }),
    status: {
      capacity: amounts(status?.capacity, 'cpu', 'memory'),
      allocatable: amounts(status?.allocatable, 'cpu', 'memory', 'pods'),
      conditions: (status?.conditions ?? []).slice(0, mostConditions).map((one) => ({
        type: plain(one.type),
        status: one.status === 'True' || one.status === 'False' ? one.status : 'Unknown',
        reason: plain(one.reason ?? ''),
        message: plain(one.message ?? ''),
      })),
      nodeInfo: {
        architecture: info('architecture'),
        kubeletVersion: info('kubeletVersion'),
        kernelVersion: info('kernelVersion'),
        operatingSystem: info('operatingSystem'),
        osImage: info('osImage'),
      },
    },
  }
}
type NodeInfo = NonNullable<NonNullable<Node['status']>['nodeInfo']>
