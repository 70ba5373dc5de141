import type { KindName } from '@quayside/contract/services/kinds.ts'
import { api } from './client.ts'
import { chartEnding, type EndingName, stackUninstallation } from './endings.ts'

type Copy = NonNullable<Parameters<typeof api.cloneApplication>[0]['body']>

interface CopyOperations {
  /** Removes the running service and what the ending names. Its settings stay. */
  uninstall(id: string, ending: EndingName): Promise<unknown>
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
    uninstall: (helmId, ending) => api.uninstallHelm({ helmId, ...chartEnding(ending) }),
    clone: (helmId, body) => api.cloneHelm({ helmId, body }),
  },
  terraform: {
    uninstall: (terraformId, ending) => api.uninstallTerraform({ terraformId, ...stackUninstallation(ending) }),
    clone: (terraformId, body) => api.cloneTerraform({ terraformId, body }),
  },
}
