import type { Handlers } from '../call.ts'
import type { Rooms } from './rooms.ts'

/** Handlers for backups of services with volumes. */
export const backupHandlers = ({ backups }: Rooms) => {
  const idOf = (ids: readonly string[]): string => ids[0] ?? ''
  return {
    listBackups: ({ target, query }) => backups.list(target, query.startId?.toLowerCase()),
    createBackup: ({ target, body }) => backups.create(target, body),
    deleteBackup: async ({ target, ids }) => void (await backups.remove(target, idOf(ids))),
    restoreBackup: ({ target, ids }) => backups.restore(target, idOf(ids)),
    proveBackup: ({ target, ids }) => backups.prove(target, idOf(ids)),
    getBackupPolicy: ({ target }) => backups.policy(target),
    editBackupPolicy: ({ target, body }) => backups.editPolicy(target, body),
  } satisfies Partial<Handlers>
}
