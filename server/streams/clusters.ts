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
      if (state !== told && !signal.aborted) await outlet.send(toStatus(state, clusterOf(call).kubernetes_version))
      told = state
      await clock.sleep(statusEveryMs, signal).catch(() => {})
    }
  }
}

const toStatus = (global_status: 'RUNNING' | 'WARNING' | 'ERROR', version: string | null) => ({
  computed_status: {
    global_status,
    // The machine of the platform has no Kubernetes, and no version is expected of a cluster.
    kube_version_status: { type: version ? 'OK' : 'UNKNOWN', kube_version: version ?? '', expected_kube_version: '' },
    is_max_nodes_size_reached: false,
    node_warnings: {},
    qovery_components: [],
    qovery_components_in_failure: [],
  },
})

/**
 * Sends the machine's use of resources every five seconds. The use of nodes of connected clusters
 * is not read.
 */
export function clusterMetrics({ clock, engineOf }: Pick<StreamsOptions, 'clock' | 'engineOf'>): Feed {
  return async (call, outlet, signal) => {
    const cluster = clusterOf(call)
    const isOurs = cluster.engine !== null && (await engineOf(cluster).report(signal)) === undefined
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

/** Sends the names of the machines, once. */
export const clusterNodes =
  ({ engineOf }: Pick<StreamsOptions, 'engineOf'>): Feed =>
  async (call, outlet, signal) => {
    await outlet.send({ nodes: (await namesOf(engineOf, clusterOf(call), signal)).map((name) => ({ name })) })
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }

async function namesOf(
  engineOf: StreamsOptions['engineOf'],
  cluster: ReturnType<typeof clusterOf>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (cluster.engine === null) return []
  const report = await engineOf(cluster).report(signal)
  if (!report) return [hostname()]
  return report.state === 'REACHABLE' ? report.nodes : []
}
