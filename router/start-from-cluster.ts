import { keepTrying } from './keep-trying.ts'
import { limits } from './limits.ts'
import type { Log } from './log.ts'
import type { PodConfig } from './pod-config.ts'
import type { Routes } from './routes.ts'
import { readStoredTable } from './stored-table.ts'

export interface ClusterStart {
  readonly pod: PodConfig
  readonly routes: Pick<Routes, 'table' | 'apply'>
  /** Whether the control plane has answered. Its table is the newest one. */
  readonly isConfirmed: () => boolean
  /** Called when the routes have changed. */
  readonly changed: () => void
  readonly log: Log
}

/**
 * Applies what the control plane keeps in the cluster, if it is newer. Returns what ends further
 * attempts.
 */
export function startFromCluster({ pod, routes, isConfirmed, changed, log }: ClusterStart): Promise<() => void> {
  const applyTable = async (): Promise<void> => {
    const kept = await readStoredTable(pod.stored)
    if (!kept || isConfirmed() || kept.version <= routes.table.version) return
    routes.apply(kept)
    changed()
  }
  return keepTrying({
    what: 'kept route table',
    attempt: applyTable,
    isDone: isConfirmed,
    pauseMs: limits.keptAgainMs,
    log,
  })
}
