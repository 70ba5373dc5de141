import { engineOrNone, type ReplicaUsage } from '../engines/index.ts'
import { serviceOf } from './stream-call.ts'
import type { Feed, StreamsOptions } from './streams.ts'

const everyMs = 5_000

/** Sends the use of resources of each replica every five seconds, one message each. */
export function serviceMetrics({ engineOf, clock }: Pick<StreamsOptions, 'engineOf' | 'clock'>): Feed {
  return async (call, outlet, signal) => {
    const { id, cluster_engine } = serviceOf(call)
    const engine = engineOrNone(engineOf, { engine: cluster_engine })
    while (!signal.aborted) {
      for (const usage of await engine.usage(id, signal)) await outlet.send(toMetrics(usage))
      await clock.sleep(everyMs, signal).catch(() => {})
    }
  }
}

const toMetrics = ({ replica, cpuMilli, cpuLimitMilli, memoryMiB, memoryLimitMiB }: ReplicaUsage) => ({
  pod_name: replica,
  cpu: metric(cpuMilli, cpuLimitMilli, 'mCPU'),
  memory: metric(memoryMiB, memoryLimitMiB, 'MiB'),
  // Volumes have no size on this engine.
  storages: [],
})

/** A limit of 0 means no limit. */
function metric(used: number, limit: number, unit: 'mCPU' | 'MiB') {
  const percent = limit === 0 ? 0 : Math.round((used / limit) * 100)
  const status = percent >= 90 ? 'ALERT' : percent >= 75 ? 'WARNING' : 'OK'
  return { current: Math.round(used), current_percent: percent, limit: Math.round(limit), status, unit }
}
