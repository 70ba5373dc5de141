import { afterCommit, inTransaction, type Sql } from '../database/index.ts'
import { notFound } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import { takeRoom } from '../limits/index.ts'
import { findService, lockService, type ServiceRow } from '../services/index.ts'
import {
  deleteBackup,
  findBackup,
  findListed,
  insertBackup,
  type ListedBackup,
  lastProven,
  listBackups,
  lockBackup,
  updateBackup,
} from './backup-store.ts'
import { backupWorkflow } from './backup-workflow.ts'
import type { BackupOptions } from './options.ts'
import { createPolicies } from './policy.ts'
import { submitProof } from './proof-workflow.ts'
import { refuseBusy, refuseMaking, refuseRestore, refuseUnmade, taken } from './refusals.ts'
import { beginRestore } from './restore-store.ts'
import { restoreWorkflow } from './restore-workflow.ts'

const pageSize = 20

/**
 * Operations on the backups of a service. Each call records the request and returns; workflows do
 * the rest.
 */
export function createBackups(options: BackupOptions) {
  const { database, clock } = options
  const nudgeLater = (): void => afterCommit(() => options.workflows().nudge())
  const record = async (service: ServiceRow, id: string) => {
    const row = await findListed(database, service.id, id)
    if (!row) throw notFound('backup', id)
    return toRecord(row)
  }
  return {
    ...createPolicies({ database, clock }),

    /**
     * Lists the newest first, twenty at a time. 404 if the service has no backup of the id to start
     * after.
     */
    async list(service: ServiceRow, behind: string | undefined) {
      if (behind !== undefined && (await findBackup(database, behind))?.service_id !== service.id) {
        throw notFound('backup', behind, { field: 'startId' })
      }
      const rows = await listBackups(database, service.id, { count: pageSize, behind })
      const last_proven_restore_at = await lastProven(database, service.id)
      return { page: 1, page_size: pageSize, last_proven_restore_at, results: rows.map(toRecord) }
    },

    async create(service: ServiceRow, wanted: { readonly name?: string | null; readonly message?: string | null }) {
      const id = await inTransaction(database, async (sql) => {
        await lockService(sql, service.id)
        await refuseMaking(options, sql, service.id)
        await takeRoom(sql, 'backups', service.id)
        return submitBackup(options, sql, service, wanted)
      })
      nudgeLater()
      return record(service, id)
    },

    async remove(service: ServiceRow, id: string): Promise<void> {
      await inTransaction(database, async (sql) => {
        refuseBusy(await lockBackup(sql, service.id, id), id, 'deleted')
        // The previous data may be needed for a rollback.
        if ((await findService(sql, service.id))?.restoring) throw taken(service.name)
        await deleteBackup(sql, id)
      })
    },

    async prove(service: ServiceRow, id: string) {
      await inTransaction(database, async (sql) => {
        const backup = refuseBusy(await lockBackup(sql, service.id, id), id, 'proven')
        refuseUnmade(backup)
        await submitProof(options, sql, id)
      })
      nudgeLater()
      return record(service, id)
    },

    async restore(service: ServiceRow, id: string) {
      const restore = newId()
      await inTransaction(database, async (sql) => {
        await options.restoring.hold(sql, service)
        await lockService(sql, service.id)
        const backup = await lockBackup(sql, service.id, id)
        if (!backup) throw notFound('backup', id)
        refuseUnmade(backup)
        await refuseRestore(options, sql, service.id, backup)
        if (!(await beginRestore(sql, { id: restore, backupId: id, serviceId: service.id }))) throw taken(service.name)
        await updateBackup(sql, id, { restore_state: 'RUNNING', restore_reason: null }, clock.now())
        const input = { serviceId: service.id, backupId: id }
        const countsFor = { serviceId: service.id }
        await options
          .workflows()
          .submit(sql, { id: restore, kind: restoreWorkflow, key: keyOf(service.id), input, countsFor })
      })
      nudgeLater()
      return record(service, id)
    },
  }
}

export type Backups = ReturnType<typeof createBackups>

/** The backups and restores of one service run one after the other. */
const keyOf = (serviceId: string): string => `backups of ${serviceId}`

/** Records a backup with its workflow; returns its id. */
export async function submitBackup(
  { clock, workflows }: Pick<BackupOptions, 'clock' | 'workflows'>,
  sql: Sql,
  service: Pick<ServiceRow, 'id' | 'name'>,
  { name, message }: { readonly name?: string | null; readonly message?: string | null },
): Promise<string> {
  const [id, now] = [newId(), clock.now()]
  const usual = `${service.name} ${now.toISOString().slice(0, 16)}Z`
  const row = { id, service_id: service.id, name: name || usual, message: message ?? '', state: 'QUEUED' as const, now }
  await insertBackup(sql, row)
  const [key, countsFor] = [keyOf(service.id), { serviceId: service.id }]
  await workflows().submit(sql, { id, kind: backupWorkflow, key, input: { backupId: id }, countsFor })
  return id
}

const toRecord = (row: ListedBackup) => ({
  id: row.id,
  created_at: row.created_at,
  updated_at: row.updated_at,
  name: row.name,
  message: row.message,
  status: { state: row.state, message: row.reason },
  size_in_bytes: row.size_in_bytes,
  entries: row.entries,
  proof: { state: row.proof_state, at: row.proof_at, message: row.proof_reason },
  restore: { state: row.restore_state, at: row.restore_at, message: row.restore_reason },
})
