import type { Certificates } from './certificates.ts'
import { keepTrying } from './keep-trying.ts'
import { limits } from './limits.ts'
import type { Log } from './log.ts'
import type { PodConfig } from './pod-config.ts'
import type { Routes } from './routes.ts'
import { readStoredCertificates } from './stored-certificates.ts'
import { readStoredTable } from './stored-table.ts'

export interface ClusterStart {
  readonly pod: PodConfig
  readonly routes: Pick<Routes, 'table' | 'apply'>
  readonly certificates: Pick<Certificates, 'mark' | 'replace'>
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
export async function startFromCluster(start: ClusterStart): Promise<() => void> {
  const { pod, routes, certificates, isConfirmed, changed, log } = start
  const applyTable = async (): Promise<void> => {
    const kept = await readStoredTable(pod.stored)
    if (!kept || isConfirmed() || kept.version <= routes.table.version) return
    routes.apply(kept)
    changed()
  }
  const { storedCertificates } = pod
  const hasCertificates = (): boolean => certificates.mark !== undefined
  const applyCertificates = async (): Promise<void> => {
    const kept = storedCertificates === undefined ? undefined : await readStoredCertificates(storedCertificates)
    if (kept && !hasCertificates()) certificates.replace(kept)
  }
  const shared = { pauseMs: limits.keptAgainMs, log }
  const ends = await Promise.all([
    keepTrying({ what: 'kept route table', attempt: applyTable, isDone: isConfirmed, ...shared }),
    keepTrying({ what: 'kept certificates', attempt: applyCertificates, isDone: hasCertificates, ...shared }),
  ])
  return () => {
    for (const end of ends) end()
  }
}
