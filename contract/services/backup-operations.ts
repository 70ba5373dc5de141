import { named, operation } from '../operation.ts'
import { Backup, BackupPage, BackupPolicy, BackupPolicyRequest, BackupRequest } from '../resources/backup.ts'
import { NoBody, Type, Uuid } from '../schema.ts'
import { type KindName, serviceKinds } from './kinds.ts'
import { type Noun, onService, pathOf } from './on-service.ts'

const event = { type: 'MAINTENANCE', target: 'SERVICE' } as const

/** The public API has lists, making and removing for databases alone. */
const ours = { extension: true } as const

/** What is done with the backups of one kind of service, each operation once; `legacy` goes to what the public API has of databases. */
const ofKind = <const N extends KindName, const K extends string, const L extends Partial<typeof ours>>(
  name: N,
  kind: Noun<K>,
  legacy: L,
) => {
  const all = { ...onService(name, kind), tag: 'Backups' } as const
  const path = `${pathOf(name)}/backup` as const
  const one = `${path}/{backupId}` as const
  return named(kind.noun, {
    'list{Kind}Backup': operation({
      ...legacy,
      ...all,
      method: 'GET',
      path,
      handler: 'listBackups',
      access: 'read',
      summary:
        'Its backups, newest first, twenty at a time, and when one was last proven by a restore; `startId` goes on behind that backup.',
      query: Type.Object({ startId: Type.Optional(Uuid) }),
      reply: BackupPage,
      status: 200,
    }),
    'addBackup{Kind}': operation({
      ...legacy,
      ...all,
      method: 'POST',
      path,
      handler: 'createBackup',
      access: 'write',
      event,
      summary:
        'Has what its volumes hold at this moment written into an encrypted file, and proven by a restore on the side.',
      body: BackupRequest,
      reply: Backup,
      status: 201,
    }),
    'remove{Kind}Backup': operation({
      ...legacy,
      ...all,
      method: 'DELETE',
      path: one,
      handler: 'deleteBackup',
      access: 'write',
      event,
      summary: 'Removes a backup with its files. 409 while something is done with it.',
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
        'Sets its volumes back to what the backup holds: the files are read through, the service is stopped, what is there is backed up, and it is deployed again.',
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
        'Restores the backup on the side and compares every file; a database is started on it, too, and has to become healthy.',
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
      summary: 'When backups of it are made by themselves, and how many are kept.',
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
      summary: 'Replaces that. `cron_at` null: none is made by itself any more.',
      body: BackupPolicyRequest,
      reply: BackupPolicy,
      status: 200,
    }),
  })
}

/** Of the kinds that have volumes. */
export const backupOperations = {
  ...ofKind('application', serviceKinds.application, ours),
  ...ofKind('container', serviceKinds.container, ours),
  ...ofKind('database', serviceKinds.database, {}),
} as const
