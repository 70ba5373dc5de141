import type { MachineReport } from '../engines/index.ts'

/** Pure: a machine in the words of the API. */
export function toNode(machine: MachineReport) {
  const { capacity, allocatable, requested, used } = machine
  return {
    name: machine.name,
    architecture: machine.architecture,
    kernel_version: machine.kernelVersion,
    operating_system: machine.operatingSystem,
    os_image: machine.distribution,
    kubelet_version: machine.version,
    ...(machine.createdAt && { created_at: machine.createdAt.getTime() }),
    unschedulable: !machine.isSchedulable,
    conditions: machine.conditions,
    pod_count: machine.pods,
    resources_capacity: { cpu_milli: capacity.cpuMilli, memory_mib: capacity.memoryMiB },
    resources_allocatable: {
      cpu_milli: allocatable.cpuMilli,
      memory_mib: allocatable.memoryMiB,
      ...(machine.podLimit !== undefined && { pods: machine.podLimit }),
    },
    resources_allocated: {
      request_cpu_milli: requested?.cpuMilli ?? 0,
      request_memory_mib: requested?.memoryMiB ?? 0,
    },
    metrics_usage: used
      ? {
          cpu_milli_usage: used.cpuMilli,
          cpu_percent_usage: percent(used.cpuMilli, capacity.cpuMilli),
          memory_mib_working_set_usage: used.memoryMiB,
          memory_percent_working_set_usage: percent(used.memoryMiB, capacity.memoryMiB),
        }
      : {},
  }
}

const percent = (part: number, whole: number): number => (whole > 0 ? Math.round((part / whole) * 100) : 0)
