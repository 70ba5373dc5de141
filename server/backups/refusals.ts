import { isAtRest, phases } from '@quayside/contract/states.ts'
import type { Sql } from '../database/index.ts'
import { archiveLimit } from '../engines/index.ts'
import { sizeText } from '../lib/disk-floor.ts'
import { AppError, notFound } from '../lib/error.ts'
import { findService, type ServiceRow } from '../services/index.ts'
import { type BackupRow, isBeingMade } from './backup-store.ts'
import { listFiles } from './file-store.ts'
import type { BackupOptions } from './options.ts'

/**
 * Throws 409 if the service has nothing to back up or is already being backed up, or if its
 * organization uses too much of the disk.
 */
export async function refuseMaking(options: BackupOptions, sql: Sql, serviceId: string): Promise<ServiceRow> {
  const service = await findService(sql, serviceId)
  if (!service) throw notFound('service', serviceId)
  const refuse = (why: string): never => {
    throw new AppError('conflict', `Service "${service.name}" ${why}.`)
  }
  if (options.volumesOf(service).size === 0) refuse('has no storage: there is nothing to back up')
  // Only the first deployment of a copy takes over the data that it was created with.
  if (service.last_deployment_date === null) refuse('was never deployed: it has no data yet')
  if (service.state === phases.UNINSTALL.done) refuse('is uninstalled, and its data with it')
  if (service.restoring !== null) throw taken(service.name)
  if (await isBeingMade(sql, serviceId)) refuse('is being backed up already; wait until that has ended')
  const full = await options.diskRefusal(sql, service.organization_id)
  if (full !== undefined) throw new AppError('conflict', full)
  return service
}

/** Throws 409 if the service cannot be restored from the backup now, or at all. */
export async function refuseRestore(
  options: BackupOptions,
  sql: Sql,
  serviceId: string,
  backup: BackupRow,
): Promise<void> {
  const service = await findService(sql, serviceId)
  if (!service) throw notFound('service', serviceId)
  const { name, state } = service
  if (!isAtRest(state)) {
    throw new AppError('conflict', `Service "${name}" is ${state}. Try again when that has ended, or cancel it.`)
  }
  const volumes = options.volumesOf(service)
  const files = await listFiles(sql, backup.id)
  if (!files.some(({ mount_point }) => volumes.has(mount_point))) {
    throw new AppError('conflict', `Service "${name}" has no storage any more where the backup has its files.`)
  }
  for (const file of files) {
    const size = volumes.get(file.mount_point)?.sizeGiB
    if (size === undefined || (file.archive_bytes ?? 0) <= archiveLimit(size)) continue
    throw new AppError(
      'conflict',
      `The backup has ${sizeText(file.archive_bytes ?? 0)} for ${file.mount_point}, and ` +
        `${sizeText(archiveLimit(size))} fit into the storage of ${size} GiB of service "${name}". Give the storage ` +
        'a larger size first.',
    )
  }
  const refusal = options.dataRefusal(service, backup.data_version)
  if (refusal) throw new AppError('conflict', `The backup cannot be restored: ${refusal}`)
}

export const taken = (name: string): AppError =>
  new AppError('conflict', `Service "${name}" is being restored or copied. Try again when that has ended.`)

/** Throws 409 if the backup was not made. */
export function refuseUnmade({ state }: BackupRow): void {
  if (state !== 'SUCCEEDED')
    throw new AppError('conflict', `The backup is ${state}: there is nothing to restore from it.`)
}

/** Returns the backup if it is not in use. Throws 409 if it is, and 404 if it does not exist. */
export function refuseBusy(backup: BackupRow | undefined, id: string, wanted: string): BackupRow {
  if (!backup) throw notFound('backup', id)
  const { state, proof_state, restore_state } = backup
  const isMade = state === 'QUEUED' || state === 'RUNNING'
  const doing = isMade ? 'made' : proof_state === 'RUNNING' ? 'proven' : restore_state === 'RUNNING' ? 'restored' : ''
  if (doing === '') return backup
  throw new AppError(
    'conflict',
    `The backup is being ${doing} and cannot be ${wanted} now. Try again when that has ended.`,
  )
}
