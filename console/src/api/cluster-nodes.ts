import type { Static } from '@quayside/contract'
import type { ClusterMetrics } from '@quayside/contract/resources/stream.ts'

/** A machine of a cluster: its capacity, the used and reserved parts, and its conditions. */
export type Machine = Static<typeof ClusterMetrics>['nodes'][number]
type Condition = Machine['conditions'][number]

export type MachineState = 'AVAILABLE' | 'NOT_READY' | 'UNDER_PRESSURE' | 'CORDONED'

/** Pure: the conditions that harm workloads. `Ready` is good, and every other one is a problem. */
export const problemsOf = ({ conditions }: Pick<Machine, 'conditions'>): readonly Condition[] =>
  conditions.filter(({ type, status }) => (type === 'Ready' ? status !== 'True' : status === 'True'))

/** Pure: whether a machine takes workloads. */
export function stateOf(machine: Pick<Machine, 'conditions' | 'unschedulable'>): MachineState {
  const problems = problemsOf(machine)
  if (problems.some(({ type }) => type === 'Ready')) return 'NOT_READY'
  if (machine.unschedulable) return 'CORDONED'
  return problems.length > 0 ? 'UNDER_PRESSURE' : 'AVAILABLE'
}

/** An amount of a machine, and a part of it. */
export interface Share {
  readonly part: number
  readonly whole: number
}

/** Pure: the used parts of a machine. Undefined if the cluster does not measure them. */
export function usedOf({ metrics_usage: used, resources_capacity: all }: Machine) {
  const { cpu_milli_usage: cpu, memory_mib_working_set_usage: memory } = used
  if (cpu === undefined || memory === undefined) return undefined
  return { cpu: { part: cpu, whole: all.cpu_milli }, memory: { part: memory, whole: all.memory_mib } }
}

/** Pure: the reserved parts. Undefined if nothing is reserved, as on a machine with Docker. */
export function reservedOf({ resources_allocated: reserved, resources_allocatable: all }: Machine) {
  const { request_cpu_milli: cpu, request_memory_mib: memory } = reserved
  if (cpu === 0 && memory === 0) return undefined
  return { cpu: { part: cpu, whole: all.cpu_milli }, memory: { part: memory, whole: all.memory_mib } }
}
