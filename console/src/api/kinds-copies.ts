import type { KindName } from '@quayside/contract/services/kinds.ts'
import { api } from './client.ts'

type Copy = NonNullable<Parameters<typeof api.cloneApplication>[0]['body']>

interface CopyOperations {
  /** Removes the running service and its volumes. Its settings stay. */
  uninstall(id: string): Promise<unknown>
  clone(id: string, body: Copy): Promise<{ readonly id: string }>
}

/** The operations of each kind of service that copy it, and that end it without its record. */
export const copyOperations: Readonly<Record<KindName, CopyOperations>> = {
  application: {
    uninstall: (applicationId) => api.uninstallApplication({ applicationId }),
    clone: (applicationId, body) => api.cloneApplication({ applicationId, body }),
  },
  container: {
    uninstall: (containerId) => api.uninstallContainer({ containerId }),
    clone: (containerId, body) => api.cloneContainer({ containerId, body }),
  },
  database: {
    uninstall: (databaseId) => api.uninstallDatabase({ databaseId }),
    clone: (databaseId, body) => api.cloneDatabase({ databaseId, body }),
  },
  job: {
    uninstall: (jobId) => api.uninstallJob({ jobId }),
    clone: (jobId, body) => api.cloneJob({ jobId, body }),
  },
  helm: {
    uninstall: (helmId) => api.uninstallHelm({ helmId }),
    clone: (helmId, body) => api.cloneHelm({ helmId, body }),
  },
  terraform: {
    uninstall: (terraformId) => api.uninstallTerraform({ terraformId }),
    clone: (terraformId, body) => api.cloneTerraform({ terraformId, body }),
  },
}
