import { phases } from '@quayside/contract/states.ts'
import { type Sql, unitOfWork } from '../database/index.ts'
import { messageOf } from '../lib/error.ts'
import { failpoint } from '../lib/failpoint.ts'
import { findService, type ServiceRow } from '../services/index.ts'
import { isOutage, type Workflow } from '../workflows/index.ts'
import { findBackup, insertBackup } from './backup-store.ts'
import { endBackup, failBackup } from './backup-workflow.ts'
import { listFiles } from './file-store.ts'
import { checkArchive } from './files.ts'
import { makeBackup } from './make-backup.ts'
import { type BackupOptions, reasonText, volumeSeconds } from './options.ts'
import { abandonRestore, finish, goBack } from './restore-end.ts'
import { findRestore, unfinishedRestores, updateRestore } from './restore-store.ts'
import { beforeId, type RestoreInput, type RestoreWork } from './restore-work.ts'
import { writeBack } from './write-back.ts'

export const restoreWorkflow = 'backup restore'

/** Other deployments of the environment may run first. */
const stopSeconds = 3600

/**
 * Restores the volumes of a service from a backup. Its files are read completely before anything is
 * touched. Then the service is stopped, its data are backed up, its volumes are recreated, and it
 * is deployed again. A later failure rolls back to the previous data.
 */
export function createRestoreWorkflow(options: BackupOptions): Workflow<RestoreInput> {
  return {
    name: restoreWorkflow,
    run: async (input, step, context) => {
      const work = { ...input, options, id: context.id, step, context }
      const restore = await findRestore(options.database, work.id)
      if (!restore) return
      const failure = restore.failure ?? (await attemptRestore(work))
      const end = failure === undefined ? { isSet: true, starts: true } : await goBack(work, failure)
      await step('END', () => finish(work, end))
      options.workflows().nudge()
    },
    abandoned: (input, reason, sql) => abandonRestore(options, input, reasonText(reason), sql),
    unfinished: unfinishedRestores,
  }
}

/** Returns why it failed. The reason is stored, so a restart rolls back, too. */
async function attemptRestore(work: RestoreWork): Promise<string | undefined> {
  const { id, context } = work
  try {
    await carryOut(work)
    return undefined
  } catch (error) {
    if (context.signal.aborted || isOutage(error)) throw error
    const failure = messageOf(error)
    await context.fenced((sql) => updateRestore(sql, id, { failure }))
    return failure
  }
}

async function carryOut(work: RestoreWork): Promise<void> {
  const { options, id, step, context, backupId } = work
  await step('CHECK', () => checkFiles(work), { deadlineSeconds: volumeSeconds })
  await step('STOP', async () => {
    const { organization_id: owner } = await serviceOf(options.database, work)
    return unitOfWork(options.database, () => context.fenced((sql) => stop(work, sql)), { owner })
  })
  options.workflows().nudge()
  failpoint('restore.asked')
  await step('STOPPED', ({ signal }) => untilStopped(work, signal), { deadlineSeconds: stopSeconds })
  const isKept = await step('BEFORE', () => context.fenced((sql) => beginBefore(work, sql)))
  if (isKept) await keepBefore(work)
  await step('WRITING', () => context.fenced((sql) => updateRestore(sql, id, { phase: 'WRITING' })))
  const write = ({ signal }: { readonly signal: AbortSignal }) => writeBack(options, work, backupId, signal)
  await step('WRITE', write, { deadlineSeconds: volumeSeconds })
  failpoint('restore.written')
}

const serviceOf = async (sql: Sql, { serviceId }: Pick<RestoreWork, 'serviceId'>): Promise<ServiceRow> => {
  const service = await findService(sql, serviceId)
  if (!service) throw new Error('the service does not exist any more')
  return service
}

async function checkFiles(work: RestoreWork): Promise<void> {
  const { options, backupId } = work
  const service = await serviceOf(options.database, work)
  for (const file of await listFiles(options.database, backupId)) {
    await checkArchive(options, service.organization_id, file)
  }
}

/** Records, in one transaction with the request, whether the service ran. A restart reads it. */
async function stop(work: RestoreWork, sql: Sql): Promise<void> {
  const { options, id } = work
  const restore = await findRestore(sql, id)
  if (restore?.phase !== 'CHECKING') return
  const service = await serviceOf(sql, work)
  const request = await options.restoring.stop(service, id)
  const was_running = request !== undefined
  await updateRestore(sql, id, { phase: 'STOPPING', was_running, stop_request: request ?? null })
}

async function untilStopped({ options, id, serviceId }: RestoreWork, signal: AbortSignal): Promise<void> {
  const restore = await findRestore(options.database, id)
  if (!restore?.stop_request) return
  for (;;) {
    const outcome = await options.restoring.outcome(restore.stop_request, serviceId)
    if (outcome?.reason) throw new Error(`The service could not be stopped: ${outcome.reason}`)
    if (outcome) return
    await options.clock.sleep(200, signal)
  }
}

/** Returns false if there are no data to keep: the service was uninstalled. */
async function beginBefore(work: RestoreWork, sql: Sql): Promise<boolean> {
  const { options, id, serviceId, backupId } = work
  const [service, backup] = [await serviceOf(sql, work), await findBackup(sql, backupId)]
  if (service.state === phases.UNINSTALL.done) return false
  await insertBackup(sql, {
    id: beforeId(id),
    service_id: serviceId,
    name: `before restoring ${backup?.name ?? ''}`.slice(0, 255),
    message: 'What was there when the service was set back to another backup.',
    state: 'RUNNING',
    now: options.clock.now(),
  })
  return true
}

async function keepBefore({ options, id, step, context }: RestoreWork): Promise<void> {
  const before = beforeId(id)
  try {
    const isMade = await makeBackup({ options, id: before, step, context, prefix: 'BEFORE/' })
    if (!isMade) throw new Error('its record is gone')
    await step('BEFORE/END', () => endBackup(options, before, context))
  } catch (error) {
    if (context.signal.aborted || isOutage(error)) throw error
    await context.fenced((sql) => failBackup(options, sql, before, messageOf(error)))
    throw new Error(`What is there could not be backed up first: ${messageOf(error)}`, { cause: error })
  }
}
