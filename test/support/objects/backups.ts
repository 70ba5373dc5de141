import { newId } from '../../../server/lib/id.ts'
import type { Contribution } from '../fixture.ts'

/** Mount points of the services that tests can back up. */
export const mountPoint = { application: '/data', container: '/data', database: '/var/lib/postgresql/data' } as const

/**
 * Adds a finished backup for each kind of service that supports backups. Its file does not exist.
 */
export const addBackups: Contribution = async ({ database, rooms, objects }) => {
  const ids = {
    application: objects.applicationId,
    container: objects.more['containerId'] ?? '',
    database: objects.more['databaseId'] ?? '',
  }
  const more: Record<string, string> = {}
  for (const kind of ['application', 'container', 'database'] as const) {
    const id = newId()
    await database`
      insert into backup (id, service_id, created_at, updated_at, name, state)
      values (${id}, ${ids[kind]}, now(), now(), ${`of the ${kind}`}, 'SUCCEEDED')`
    const cell = { table: 'backup_file', row: `${id} 1`, column: 'sealed_key' }
    const key = Buffer.alloc(32, 7).toString('base64')
    const sealedKey = await rooms.vault.seal(database, objects.organizationId, cell, key)
    await database`
      insert into backup_file (backup_id, number, mount_point, path, archive_bytes, file_bytes, entries, digest,
      sealed_key)
      values (${id}, 1, ${mountPoint[kind]}, ${`${objects.organizationId}/${ids[kind]}/${id}-1.qsb`}, 2048, 1024, 2,
      '00', ${sealedKey})`
    more[`${kind}.backupId`] = id
  }
  return more
}
