import { arch, availableParallelism, freemem, hostname, loadavg, release, totalmem, type } from 'node:os'
import { clusterOf } from './stream-call.ts'
import type { Feed, StreamsOptions } from './streams.ts'

const statusEveryMs = 10_000
const metricsEveryMs = 5_000
const mebibyte = 1024 * 1024

/**
 * Sends whether the cluster's engine answers: at once, then whenever that changes. Clusters that
 * are only records have no engine.
 */
export function clusterStatus({ engineOf, clock }: Pick<StreamsOptions, 'engineOf' | 'clock'>): Feed {
  return async (call, outlet, signal) => {
    const isOurs = clusterOf(call).engine !== null
    const ping = async (): Promise<void> => engineOf(clusterOf(call)).ping(signal)
    let told: string | undefined
    while (!signal.aborted) {
      const answers =
        isOurs &&
        (await ping().then(
          () => true,
          () => false,
        ))
      const state = answers ? 'RUNNING' : isOurs ? 'ERROR' : 'WARNING'
      if (state !== told && !signal.aborted) await outlet.send(toStatus(state))
      told = state
      await clock.sleep(statusEveryMs, signal).catch(() => {})
    }
  }
}

const toStatus = (global_status: 'RUNNING' | 'WARNING' | 'ERROR') => ({
  computed_status: {
    global_status,
    // It has no Kubernetes.
    kube_version_status: { type: 'UNKNOWN', kube_version: '', expected_kube_version: '' },
    is_max_nodes_size_reached: false,
    node_warnings: {},
    qovery_components: [],
    qovery_components_in_failure: [],
  },
})

/** Sends the machine's use of resources every five seconds. */
export function clusterMetrics({ clock }: Pick<StreamsOptions, 'clock'>): Feed {
  return async (call, outlet, signal) => {
    const isOurs = clusterOf(call).engine !== null
    while (!signal.aborted) {
      await outlet.send({ nodes: isOurs ? [thisMachine()] : [], pvcs: [] })
      await clock.sleep(metricsEveryMs, signal).catch(() => {})
    }
  }
}

function thisMachine() {
  const capacity = { cpu_milli: availableParallelism() * 1000, memory_mib: Math.floor(totalmem() / mebibyte) }
  const memory = Math.floor((totalmem() - freemem()) / mebibyte)
  // The load of the last minute, which includes programs that wait for a core.
  const cpu = Math.min(capacity.cpu_milli, Math.round((loadavg()[0] ?? 0) * 1000))
  return {
    name: hostname(),
    architecture: arch(),
    kernel_version: release(),
    operating_system: type(),
    resources_capacity: capacity,
    metrics_usage: {
      cpu_milli_usage: cpu,
      cpu_percent_usage: Math.round((cpu / capacity.cpu_milli) * 100),
      memory_mib_working_set_usage: memory,
      memory_percent_working_set_usage: Math.round((memory / capacity.memory_mib) * 100),
    },
  }
}

/** Sends the only machine, once. */
export const clusterNodes: Feed = async (call, outlet, signal) => {
  await outlet.send({ nodes: clusterOf(call).engine === null ? [] : [{ name: hostname() }] })
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
