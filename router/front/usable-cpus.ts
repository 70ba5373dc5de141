import { readFile } from 'node:fs/promises'

/** CPUs on which this process may run. */
export interface UsableCpus {
  readonly count: number
  /** Numbers and ranges, such as `0-1`. */
  readonly ranges: readonly string[]
}

/** More threads of HAProxy would need groups. */
const mostThreads = 64
const mostRanges = 32

/**
 * Returns the CPUs to which HAProxy binds its threads, one each. Threads that move between CPUs
 * while the machine is busy lose what their caches hold. Undefined if threads should not be bound:
 * there is one CPU or more than 64, or memory has several nodes, of which HAProxy uses the first.
 */
export async function usableCpus(): Promise<UsableCpus | undefined> {
  try {
    const [status, nodes] = await Promise.all([
      readFile('/proc/self/status', 'utf8'),
      readFile('/sys/devices/system/node/online', 'utf8'),
    ])
    return cpusIn(status, nodes)
  } catch {
    // Another system, or a container without these files. HAProxy then binds nothing.
    return undefined
  }
}

/** Reads `/proc/self/status` and the list of the nodes of memory. */
export function cpusIn(status: string, nodes: string): UsableCpus | undefined {
  const ranges = /^Cpus_allowed_list:\s(.*)$/m.exec(status)?.[1]?.split(',') ?? []
  const ends = ranges.map((range) => range.split('-').map(Number))
  const count = ends.reduce((sum, [first = Number.NaN, last = first]) => sum + last - first + 1, 0)
  if (nodes.trim() !== '0' || !(count > 1 && count <= mostThreads) || ranges.length > mostRanges) return undefined
  return { count, ranges }
}
