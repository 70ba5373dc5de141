import { operation, operationWith } from '../operation.ts'
import { Backup, BackupPage, BackupPolicy, BackupPolicyRequest, BackupRequest } from '../resources/backup.ts'
import { NoBody, Type, Uuid } from '../schema.ts'
import type { KindName } from './kinds.ts'
import { onService, pathOf } from './on-service.ts'

const event = { type: 'MAINTENANCE', target: 'SERVICE' } as const

/** The public API lists, creates and deletes backups of databases only. */
const ours = { extension: true } as const

const legacy = {
  application: ours,
  container: ours,
  database: {},
  job: ours,
  helm: ours,
  terraform: ours,
} as const

/** The operations on backups of one kind of service. */
export const backupTemplates = <const N extends KindName>(name: N) => {
  const all = { ...onService(name), tag: 'Backups' } as const
  const path = `${pathOf(name)}/backup` as const
  const one = `${path}/{backupId}` as const
  return {
    'list{Kind}Backup': operationWith(legacy[name], {
      ...all,
      method: 'GET',
      path,
      handler: 'listBackups',
      access: 'read',
      summary:
        'Lists the backups of a service, newest first, twenty at a time, with the time of the last ' +
        'successful test restore. `startId` continues after that backup.',
      query: Type.Object({ startId: Type.Optional(Uuid) }),
      reply: BackupPage,
      status: 200,
    }),
    'addBackup{Kind}': operationWith(legacy[name], {
      ...all,
      method: 'POST',
      path,
      handler: 'createBackup',
      access: 'write',
      event,
      summary: 'Creates an encrypted backup of the volumes of a service and verifies it by a test restore.',
      body: BackupRequest,
      reply: Backup,
      status: 201,
    }),
    'remove{Kind}Backup': operationWith(legacy[name], {
      ...all,
      method: 'DELETE',
      path: one,
      handler: 'deleteBackup',
      access: 'write',
      event,
      summary: 'Deletes a backup with its files. 409 while it is in use.',
      reply: NoBody,
      status: 204,
    }),
    'restore{Kind}Backup': operation({
      ...ours,
      ...all,
      method: 'POST',
      path: `${one}/restore`,
      handler: 'restoreBackup',
      access: 'deploy',
      alsoAccess: 'write',
      event,
      summary:
        'Restores the volumes of a service from a backup. The backup is checked, the service is stopped, its ' +
        'current data is backed up, and it is deployed again.',
      reply: Backup,
      status: 202,
    }),
    'prove{Kind}Backup': operation({
      ...ours,
      ...all,
      method: 'POST',
      path: `${one}/prove`,
      handler: 'proveBackup',
      access: 'write',
      event,
      summary:
        'Verifies a backup by a test restore that compares every file. A database is also started on it and ' +
        'must become healthy.',
      reply: Backup,
      status: 202,
    }),
    'get{Kind}BackupPolicy': operation({
      ...ours,
      ...all,
      method: 'GET',
      path: `${pathOf(name)}/backupPolicy`,
      handler: 'getBackupPolicy',
      access: 'read',
      summary: 'Returns the backup schedule of a service: when automatic backups are made, and how many are kept.',
      reply: BackupPolicy,
      status: 200,
    }),
    'edit{Kind}BackupPolicy': operation({
      ...ours,
      ...all,
      method: 'PUT',
      path: `${pathOf(name)}/backupPolicy`,
      handler: 'editBackupPolicy',
      access: 'write',
      event: { type: 'UPDATE', target: 'SERVICE' },
      summary: 'Replaces the backup schedule of a service. A null `cron_at` stops automatic backups.',
      body: BackupPolicyRequest,
      reply: BackupPolicy,
      status: 200,
    }),
  }
}
