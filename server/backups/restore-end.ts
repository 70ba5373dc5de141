import { type Sql, unitOfWork } from '../database/index.ts'
import { AppError, messageOf } from '../lib/error.ts'
import { findService, type ServiceRow, setDataVersion } from '../services/index.ts'
import { isOutage } from '../workflows/index.ts'
import { type BackupRow, findBackup, updateBackup } from './backup-store.ts'
import { failBackup } from './backup-workflow.ts'
import { type BackupOptions, volumeSeconds } from './options.ts'
import { recordRestore } from './record-restore.ts'
import { endRestore, findRestore, type RestoreRow } from './restore-store.ts'
import { beforeId, type RestoreInput, type RestoreWork } from './restore-work.ts'
import { writeBack } from './write-back.ts'

/**
 * How a restore ends: whether the volumes are those of the backup, and whether the service must
 * start again.
 */
export interface End {
  readonly isSet: boolean
  readonly starts: boolean
  readonly reason?: string
}

/** Writes the previous data back into volumes that were changed. */
export async function goBack(work: RestoreWork, failure: string): Promise<End> {
  const { options, id, step, context } = work
  const restore = await findRestore(options.database, id)
  if (restore?.phase !== 'WRITING')
    return { isSet: false, starts: true, reason: `${failure} Its data were not touched.` }
  const before = beforeId(id)
  // It was uninstalled, so there were no previous data.
  if ((await findBackup(options.database, before))?.state !== 'SUCCEEDED')
    return { isSet: false, starts: false, reason: failure }
  try {
    const write = ({ signal }: { readonly signal: AbortSignal }) => writeBack(options, work, before, signal)
    await step('BACK', write, { deadlineSeconds: volumeSeconds })
    return { isSet: false, starts: true, reason: `${failure} What was there before was written back.` }
  } catch (error) {
    if (context.signal.aborted || isOutage(error)) throw error
    const rest =
      `What was there could not be written back either (${messageOf(error)}); the service stays stopped. ` +
      'Restore the backup "before restoring …".'
    return { isSet: false, starts: false, reason: `${failure} ${rest}` }
  }
}

/**
 * Releases the service and redeploys it if it ran, in one transaction. A refused deployment does
 * not undo the restore.
 */
export async function finish(work: RestoreWork, end: End): Promise<void> {
  const { options, context } = work
  const owner = (await findService(options.database, work.serviceId))?.organization_id
  const inUnit = (starts: boolean, note: string) =>
    unitOfWork(options.database, () => context.fenced((sql) => write(work, sql, { ...end, starts }, note)), {
      clock: options.clock,
      ...(owner !== undefined && { owner }),
    })
  try {
    await inUnit(end.starts, '')
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'unavailable') throw error
    await inUnit(false, ` It was not deployed again: ${error.message}`)
  }
}

async function write(work: RestoreWork, sql: Sql, { isSet, starts, reason }: End, note: string): Promise<void> {
  const { options, id, serviceId, backupId } = work
  const [restore, backup, service] = [
    await findRestore(sql, id),
    await findBackup(sql, backupId),
    await findService(sql, serviceId),
  ]
  if (!restore || !backup || !service) return
  if (starts && restore.was_running) await options.restoring.start(service, id)
  if (isSet) await setDataVersion(sql, serviceId, backup.data_version)
  const text = isSet ? `Its volumes are those of the backup.${note}` : `${reason ?? ''}${note}`
  await noteEnd(options, sql, { restore, backup, service }, isSet ? 'SUCCEEDED' : 'FAILED', text)
}

interface Ended {
  readonly restore: RestoreRow
  readonly backup: BackupRow
  readonly service: ServiceRow
}

async function noteEnd(
  options: BackupOptions,
  sql: Sql,
  { restore, backup, service }: Ended,
  restore_state: 'SUCCEEDED' | 'FAILED',
  restore_reason: string,
): Promise<void> {
  const now = options.clock.now()
  options.log.info({ backup: backup.id, service: service.id, restore_state, restore_reason }, 'a restore ended')
  await updateBackup(sql, backup.id, { restore_state, restore_at: now, restore_reason }, now)
  await endRestore(sql, restore.id)
  await recordRestore(sql, service, { ...backup, restore_state, restore_reason }, now)
}

/**
 * Records a restore that a fault of the platform cut short: the state of the data is then unknown.
 */
export async function abandonRestore(
  options: BackupOptions,
  { serviceId, backupId }: RestoreInput,
  reason: string,
  sql: Sql,
): Promise<void> {
  const [backup, service] = [await findBackup(sql, backupId), await findService(sql, serviceId)]
  const restore = service?.restoring ? await findRestore(sql, service.restoring) : undefined
  if (!backup || !service || !restore) return
  const before = await findBackup(sql, beforeId(restore.id))
  if (before?.state === 'RUNNING') await failBackup(options, sql, before.id, reason)
  const rest =
    restore.phase === 'WRITING'
      ? 'Its volumes may be incomplete: restore this backup again, or the one from before.'
      : 'Its data were not touched; deploy it where it does not run.'
  await noteEnd(options, sql, { restore, backup, service }, 'FAILED', `${reason} ${rest}`)
}
