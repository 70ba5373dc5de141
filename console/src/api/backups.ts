import type { KindName } from '@quayside/contract/services/kinds.ts'
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

// Backups, whose operations differ by the kind of the service.

export type BackupPage = Awaited<ReturnType<typeof api.listDatabaseBackup>>
export type Backup = BackupPage['results'][number]
export type BackupPolicy = Awaited<ReturnType<typeof api.getDatabaseBackupPolicy>>
type Request = NonNullable<Parameters<typeof api.addBackupDatabase>[0]['body']>
type PolicyRequest = NonNullable<Parameters<typeof api.editDatabaseBackupPolicy>[0]['body']>
type Query = { readonly startId?: string }

interface BackupOperations {
  list(id: string, query: Query): Promise<BackupPage>
  add(id: string, body: Request): Promise<Backup>
  remove(id: string, backupId: string): Promise<undefined>
  restore(id: string, backupId: string): Promise<Backup>
  prove(id: string, backupId: string): Promise<Backup>
  policy(id: string): Promise<BackupPolicy>
  editPolicy(id: string, body: PolicyRequest): Promise<BackupPolicy>
}

/** The kinds whose services have volumes of the platform. */
export type KindWithBackups = Extract<KindName, 'application' | 'container' | 'database'>

export const backupsOf: Readonly<Record<KindWithBackups, BackupOperations>> = {
  application: {
    list: (applicationId, query) => api.listApplicationBackup({ applicationId, query }),
    add: (applicationId, body) => api.addBackupApplication({ applicationId, body }),
    remove: (applicationId, backupId) => api.removeApplicationBackup({ applicationId, backupId }),
    restore: (applicationId, backupId) => api.restoreApplicationBackup({ applicationId, backupId }),
    prove: (applicationId, backupId) => api.proveApplicationBackup({ applicationId, backupId }),
    policy: (applicationId) => api.getApplicationBackupPolicy({ applicationId }),
    editPolicy: (applicationId, body) => api.editApplicationBackupPolicy({ applicationId, body }),
  },
  container: {
    list: (containerId, query) => api.listContainerBackup({ containerId, query }),
    add: (containerId, body) => api.addBackupContainer({ containerId, body }),
    remove: (containerId, backupId) => api.removeContainerBackup({ containerId, backupId }),
    restore: (containerId, backupId) => api.restoreContainerBackup({ containerId, backupId }),
    prove: (containerId, backupId) => api.proveContainerBackup({ containerId, backupId }),
    policy: (containerId) => api.getContainerBackupPolicy({ containerId }),
    editPolicy: (containerId, body) => api.editContainerBackupPolicy({ containerId, body }),
  },
  database: {
    list: (databaseId, query) => api.listDatabaseBackup({ databaseId, query }),
    add: (databaseId, body) => api.addBackupDatabase({ databaseId, body }),
    remove: (databaseId, backupId) => api.removeDatabaseBackup({ databaseId, backupId }),
    restore: (databaseId, backupId) => api.restoreDatabaseBackup({ databaseId, backupId }),
    prove: (databaseId, backupId) => api.proveDatabaseBackup({ databaseId, backupId }),
    policy: (databaseId) => api.getDatabaseBackupPolicy({ databaseId }),
    editPolicy: (databaseId, body) => api.editDatabaseBackupPolicy({ databaseId, body }),
  },
}

/** Whether services of a kind have backups. */
export const hasBackups = (kind: KindName): kind is KindWithBackups => Object.hasOwn(backupsOf, kind)

export interface BackupPlace {
  readonly environmentId: string
  readonly kind: KindWithBackups
  readonly serviceId: string
}

export const aboutBackups = ({ environmentId, serviceId }: BackupPlace) =>
  ['environment', environmentId, 'backups', serviceId] as const

/** All backups of a service, newest first. The API returns twenty at a time. */
export const backups = (place: BackupPlace) =>
  queryOptions({
    queryKey: [...aboutBackups(place), 'list'],
    queryFn: async () => {
      const all: Backup[] = []
      for (;;) {
        const last = all.at(-1)
        const page = await backupsOf[place.kind].list(place.serviceId, last ? { startId: last.id } : {})
        all.push(...page.results)
        if (page.results.length < page.page_size) return { all, provenAt: page.last_proven_restore_at }
      }
    },
    staleTime: 0,
  })

export const backupPolicy = (place: BackupPlace) =>
  queryOptions({
    queryKey: [...aboutBackups(place), 'policy'],
    queryFn: () => backupsOf[place.kind].policy(place.serviceId),
    staleTime: 0,
  })

/** Pure: why the backup cannot be used now. Undefined if it can. */
export function backupRefusal({ status, proof, restore }: Backup): string | undefined {
  if (status.state === 'FAILED') return 'it was not made'
  if (status.state !== 'SUCCEEDED') return 'it is not made yet'
  if (proof.state === 'RUNNING') return 'its proof is in progress'
  return restore.state === 'RUNNING' ? 'a restore from it is in progress' : undefined
}
