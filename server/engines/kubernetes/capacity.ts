import type { EngineCapacity } from '../engine.ts'
import type { Node } from './client/index.ts'

/**
 * Returns what the largest node of a cluster has for workloads. Undefined without a usable node.
 */
export function capacityOf(nodes: readonly Node[]): EngineCapacity | undefined {
  const usable = nodes.filter(({ spec }) => spec?.unschedulable !== true)
  const capacities = usable.map(
    ({ status }): EngineCapacity => ({
      cpuMilli: Math.floor(quantity(status?.allocatable?.['cpu']) * 1000),
      memoryMiB: Math.floor(quantity(status?.allocatable?.['memory']) / 1024 ** 2),
      architecture: status?.nodeInfo?.architecture === 'arm64' ? 'ARM64' : 'AMD64',
    }),
  )
  return capacities.toSorted((a, b) => b.memoryMiB - a.memoryMiB || b.cpuMilli - a.cpuMilli)[0]
}

/** Returns what one node has for workloads, and its name. */
export const machineOf = ({ metadata, status }: Node) => ({
  name: metadata.name,
  cpuMilli: Math.floor(quantity(status?.allocatable?.['cpu']) * 1000),
  memoryMiB: Math.floor(quantity(status?.allocatable?.['memory']) / 1024 ** 2),
})

const factors: Readonly<Record<string, number>> = {
  '': 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
  Ti: 1024 ** 4,
  Pi: 1024 ** 5,
  Ei: 1024 ** 6,
}

/** Reads a quantity of Kubernetes, such as `1930m`, `24Gi` or `1e3`. 0 for anything else. */
export function quantity(text: string | undefined): number {
  const [, number = '', unit = ''] = /^([0-9.]+(?:e[0-9]+)?)([a-zA-Z]{0,2})$/.exec(text ?? '') ?? []
  const factor = factors[unit]
  const value = Number(number) * (factor ?? 0)
  return Number.isFinite(value) ? value : 0
}
