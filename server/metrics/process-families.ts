import { statfs } from 'node:fs/promises'
import { performance } from 'node:perf_hooks'
import type { Family } from './exposition.ts'

const gauge = (name: string, help: string, value: number): Family => ({
  name,
  help,
  type: 'gauge',
  samples: [{ value }],
})

/** Returns the families about this process. Each call covers the time since the previous one. */
export function createProcessFamilies(version: string): () => readonly Family[] {
  let before = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    const { user, system } = process.cpuUsage()
    const { rss, heapUsed, external } = process.memoryUsage()
    return [
      {
        name: 'quayside_build_info',
        help: 'The version of the server.',
        type: 'gauge',
        samples: [{ labels: { version, node: process.version }, value: 1 }],
      },
      {
        name: 'process_cpu_seconds_total',
        help: 'Processor time of the server.',
        type: 'counter',
        samples: [{ value: (user + system) / 1e6 }],
      },
      gauge('process_start_time_seconds', 'When the server started.', Math.round(performance.timeOrigin) / 1000),
      gauge('process_resident_memory_bytes', 'Memory of the server.', rss),
      gauge('quayside_heap_used_bytes', 'Memory of JavaScript objects.', heapUsed),
      gauge('quayside_external_memory_bytes', 'Memory of buffers.', external),
      gauge('quayside_event_loop_utilization', 'Share of the time in which the event loop was busy.', utilization),
    ]
  }
}

/** Returns the space of the file system with the data directory. */
export async function diskFamilies(directory: string): Promise<readonly Family[]> {
  const { bsize, blocks, bavail } = await statfs(directory)
  return [
    gauge('quayside_disk_size_bytes', 'Size of the file system with the data directory.', bsize * blocks),
    gauge('quayside_disk_available_bytes', 'Space on it that the platform can use.', bsize * bavail),
  ]
}
