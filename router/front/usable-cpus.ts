import { readFile } from 'node:fs/promises'

/** A line of HAProxy's configuration has at most 64 words. */
const most = 60

/**
 * Returns the numbers of the CPUs to which HAProxy binds its threads, one each. Threads that move
 * between CPUs while the machine is busy lose what their caches hold. Undefined if threads should
 * not be bound: there is one CPU or more than 60, or memory has several nodes, of which HAProxy
 * uses the first.
 */
export async function usableCpus(): Promise<readonly number[] | undefined> {
  try {
    const read = (path: string): Promise<string> => readFile(path, 'utf8')
    const [status, online, nodes] = await Promise.all([
      read('/proc/self/status'),
      read('/sys/devices/system/cpu/online'),
      read('/sys/devices/system/node/online'),
    ])
    return cpusIn({ status, online, nodes })
  } catch {
    // Another system, or a container without these files. HAProxy then binds nothing.
    return undefined
  }
}

/**
 * Reads `/proc/self/status` and the lists of online CPUs and nodes of memory. A process may be
 * allowed CPUs that the machine does not have yet.
 */
export function cpusIn(files: Readonly<Record<'status' | 'online' | 'nodes', string>>): readonly number[] | undefined {
  const allowed = rangesIn(/^Cpus_allowed_list:\s(.*)$/m.exec(files.status)?.[1] ?? '')
  const cpus = rangesIn(files.online).flatMap(([first, last]) =>
    allowed.flatMap(([from, to]) => numbersFrom(Math.max(first, from), Math.min(last, to))),
  )
  return files.nodes.trim() === '0' && cpus.length > 1 && cpus.length <= most ? cpus : undefined
}

/** Reads a list of numbers and ranges, such as `0-1,4`. */
const rangesIn = (text: string): (readonly [number, number])[] =>
  text.split(',').flatMap((range) => {
    const [first = Number.NaN, last = first] = range.trim().split('-').map(Number)
    return range.trim() !== '' && first <= last ? [[first, last] as const] : []
  })

/** Returns the numbers of a range, or so many of them that they are too many. */
const numbersFrom = (first: number, last: number): readonly number[] =>
  Array.from({ length: Math.max(Math.min(last - first, most) + 1, 0) }, (_, index) => first + index)
