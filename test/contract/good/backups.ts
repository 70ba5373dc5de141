import type { OperationName } from '../../../contract/contract.ts'
import type { Objects } from '../../support/fixture.ts'
import type { Platform } from '../../support/platform.ts'
import type { Good } from '../requests.ts'

type Kind = 'application' | 'container' | 'database'

/**
 * Prepares a service as if it was deployed and has ended since. Applications and containers get
 * storage.
 */
const withData =
  (kind: Kind) =>
  async ({ database }: Platform, objects: Objects): Promise<undefined> => {
    const id = kind === 'application' ? objects.applicationId : (objects.more[`${kind}Id`] ?? '')
    await database`update service set state = 'STOPPED', last_deployment_date = now() where id = ${id}`
    if (kind === 'database') return
    const storage = [{ id, mount_point: '/data', size: 4, type: 'FAST_SSD' }]
    await database`
      update service set settings = settings || ${database.json({ storage })} where id = ${id}`
  }

const body = { name: 'before the change', message: 'by hand' }
const policy = { body: { cron_at: '0 3 * * *', timezone: 'Europe/Paris', keep: 3 } }
const of = (kind: Kind): Good => ({ prepare: withData(kind) })

export const backups: Partial<Record<OperationName, Good>> = {
  addBackupApplication: { ...of('application'), body },
  addBackupContainer: { ...of('container'), body: {} },
  addBackupDatabase: { ...of('database'), body },
  restoreApplicationBackup: of('application'),
  restoreContainerBackup: of('container'),
  restoreDatabaseBackup: of('database'),
  editApplicationBackupPolicy: policy,
  editContainerBackupPolicy: policy,
  editDatabaseBackupPolicy: policy,
}
