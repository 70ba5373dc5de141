import { arch, freemem, hostname, loadavg, release, type } from 'node:os'
import { machine } from '../lib/machine.ts'

/** A statement about a machine, such as `Ready` or `MemoryPressure`. */
export interface MachineCondition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

interface Amounts {
  readonly cpuMilli: number
  readonly memoryMiB: number
}

/** A machine on which an engine runs workloads. */
export interface MachineReport {
  readonly name: string
  readonly architecture: string
  readonly kernelVersion: string
  /** Such as `linux`. */
  readonly operatingSystem: string
  /** Such as `Debian GNU/Linux 13 (trixie)`. */
  readonly distribution: string
  /** The version of Docker or of the kubelet. */
  readonly version: string
  /** Undefined if nobody knows. */
  readonly createdAt: Date | undefined
  /** Whether it accepts new pods. */
  readonly isSchedulable: boolean
  readonly conditions: readonly MachineCondition[]
  /** The amounts of the whole machine, and of its part for workloads. */
  readonly capacity: Amounts
  readonly allocatable: Amounts
  /** The amounts that pods reserve. Undefined if nothing is reserved on this engine. */
  readonly requested: Amounts | undefined
  /** Undefined if the cluster does not measure it. */
  readonly used: Amounts | undefined
  /** The running pods or containers, of anybody. */
  readonly pods: number
  /** The most pods. Undefined without such a limit. */
  readonly podLimit: number | undefined
}

const mebibyte = 1024 * 1024

/** Returns the machine of this process, without the facts that its engine knows. */
export function thisMachine(): MachineReport {
  const { cpuMilli, memoryMiB } = machine
  return {
    name: hostname(),
    architecture: arch(),
    kernelVersion: release(),
    operatingSystem: type(),
    distribution: '',
    version: '',
    createdAt: undefined,
    isSchedulable: true,
    conditions: [],
    capacity: { cpuMilli, memoryMiB },
    allocatable: { cpuMilli, memoryMiB },
    requested: undefined,
    used: {
      // The load of the last minute, which includes programs that wait for a core.
      cpuMilli: Math.min(cpuMilli, Math.round((loadavg()[0] ?? 0) * 1000)),
      memoryMiB: memoryMiB - Math.floor(freemem() / mebibyte),
    },
    pods: 0,
    podLimit: undefined,
  }
}
