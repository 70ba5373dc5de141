import { hostname } from 'node:os'
import { EngineError, type MachineReport } from '../engines/index.ts'
import { toNode } from './cluster-node.ts'
import { SharedReads } from './shared-reads.ts'
import { clusterOf } from './stream-call.ts'
import type { Feed, StreamsOptions } from './streams.ts'

const statusEveryMs = 10_000
const metricsEveryMs = 5_000
/** A cluster that has not answered in this time counts as away. */
const patienceMs = 15_000

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
 * Sends the machines of a cluster every five seconds, with what each has and uses. While the
 * cluster does not answer, the list is empty.
 */
export function clusterMetrics({ clock, engineOf }: Pick<StreamsOptions, 'clock' | 'engineOf'>): Feed {
  const shared = new SharedReads<MachineReport[]>(clock, metricsEveryMs - 500)
  return async (call, outlet, signal) => {
    const cluster = clusterOf(call)
    // Clusters that are only records have no engine.
    const read = async () =>
      cluster.engine === null ? [] : engineOf(cluster).machines(AbortSignal.timeout(patienceMs))
    while (!signal.aborted) {
      const machines = await shared.get(cluster.id, read).catch(noneIfAway)
      if (!signal.aborted) await outlet.send({ nodes: machines.map(toNode), pvcs: [] })
      await clock.sleep(metricsEveryMs, signal).catch(() => {})
    }
  }
}

/** The stream of states says that the cluster is away. */
function noneIfAway(error: unknown): MachineReport[] {
  if (error instanceof EngineError) return []
  throw error
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
