import type { Database } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import { clusterOfEngine } from './engine-name.ts'
import { type Health, storeHealth } from './health-store.ts'

/** What an engine says of its cluster. */
export type ClusterReport =
  | {
      readonly state: 'REACHABLE'
      readonly version: string
      readonly nodes: readonly string[]
      /** All nodes together. */
      readonly cpuMilli: number
      readonly memoryMiB: number
    }
  | { readonly state: 'UNREACHABLE' | 'REFUSED'; readonly reason: string }

export interface ClusterHealthOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/** The engine of one cluster, and the name of its reconciler. */
export interface ReportingEngine {
  readonly name: string
  readonly engine: { report(signal: AbortSignal): Promise<ClusterReport | undefined> }
}

/**
 * Stores what a connected cluster says of itself, so that its status shows within a minute that it
 * no longer answers, or no longer accepts the platform. Writes only what changed.
 */
export function createClusterHealth(
  { database, clock, log }: ClusterHealthOptions,
  { name, engine }: ReportingEngine,
  reconciler: string,
): Reconciler {
  let stored: string | undefined
  let state: string | undefined
  return {
    name: reconciler,
    everyMs: 15_000,
    async reconcile(signal) {
      const clusterId = clusterOfEngine(name)
      if (clusterId === undefined) return
      const report = await engine.report(signal)
      if (!report) return
      const text = JSON.stringify(report)
      if (text === stored) return
      await storeHealth(database, clusterId, healthOf(report), clock.now())
      if (state !== report.state) log[report.state === 'REACHABLE' ? 'info' : 'warn']({ clusterId, ...report }, changed)
      stored = text
      state = report.state
    },
  }
}

const changed = 'the health of a cluster has changed'

function healthOf(report: ClusterReport): Health {
  if (report.state !== 'REACHABLE') return { state: report.state, reason: report.reason }
  const { version, nodes, cpuMilli, memoryMiB } = report
  return { state: 'REACHABLE', version, nodeCount: nodes.length, cpuMilli, memoryMiB }
}
