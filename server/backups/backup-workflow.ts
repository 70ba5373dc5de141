import type { Sql } from '../database/index.ts'
import type { RunContext, Workflow } from '../workflows/index.ts'
import { findBackup, unfinishedBackups, updateBackup } from './backup-store.ts'
import { submitScratchErasure } from './erasure.ts'
import { deleteFiles } from './file-store.ts'
import { makeBackup } from './make-backup.ts'
import { type BackupOptions, reasonText } from './options.ts'
import { submitProof } from './proof-workflow.ts'
import { prune } from './prune.ts'

export const backupWorkflow = 'backup'

export type BackupInput = { readonly backupId: string }

/**
 * Makes one backup, and has it proven. It succeeds as a whole, or fails with a reason and leaves
 * nothing.
 */
export function createBackupWorkflow(options: BackupOptions): Workflow<BackupInput> {
  return {
    name: backupWorkflow,
    run: async ({ backupId: id }, step, context) => {
      if (!(await makeBackup({ options, id, step, context }))) return
      await step('END', () => endBackup(options, id, context))
      options.workflows().nudge()
    },
    abandoned: async ({ backupId: id }, reason, sql) => failBackup(options, sql, id, reasonText(reason)),
    unfinished: unfinishedBackups,
  }
}

/** Records a complete backup, requests its proof and lets older ones be removed. */
export const endBackup = (options: BackupOptions, id: string, context: RunContext): Promise<void> =>
  context.fenced(async (sql) => {
    const backup = await findBackup(sql, id)
    if (backup?.state !== 'RUNNING') return
    await updateBackup(sql, id, { state: 'SUCCEEDED' }, options.clock.now())
    await submitProof(options, sql, id)
    await prune(sql, backup.service_id)
  })

/**
 * Records a failed backup, and removes its files and its remains on the engine. A finished backup
 * is unchanged.
 */
export async function failBackup(options: BackupOptions, sql: Sql, id: string, reason: string): Promise<void> {
  options.log.warn({ backup: id, reason }, 'a backup could not be made')
  await submitScratchErasure(options, sql, { id, backupId: id })
  const backup = await findBackup(sql, id)
  if (!backup || backup.state === 'SUCCEEDED' || backup.state === 'FAILED') return
  await updateBackup(sql, id, { state: 'FAILED', reason }, options.clock.now())
  await deleteFiles(sql, id)
}
