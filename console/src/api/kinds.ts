import type { KindName } from '@quayside/contract/services/kinds.ts'
import { api } from './client.ts'
import { chartEnding, type EndingName, stackDeletion } from './endings.ts'

interface HistoryQuery {
  readonly startId?: string
}

/** The operations of one kind of service, by the id of a service. */
interface KindOperations {
  readonly noun: string
  /** The list of this kind in the statuses of an environment. */
  readonly plural: 'applications' | 'containers' | 'databases' | 'jobs' | 'helms' | 'terraforms'
  /** With `startId` the list continues after that deployment. */
  history(id: string, query: HistoryQuery): ReturnType<typeof api.listApplicationDeploymentHistoryV2>
  deploy(id: string): Promise<unknown>
  /** Undefined if services of this kind are not stopped. */
  readonly stop: ((id: string) => Promise<unknown>) | undefined
  readonly restart: ((id: string) => Promise<unknown>) | undefined
  remove(id: string, ending: EndingName): Promise<unknown>
}

/** The API has operations of its own for each kind. This is the only place that chooses by kind. */
export const kinds: Readonly<Record<KindName, KindOperations>> = {
  application: {
    noun: 'Application',
    plural: 'applications',
    history: (applicationId, query) => api.listApplicationDeploymentHistoryV2({ applicationId, query }),
    deploy: (applicationId) => api.deployApplication({ applicationId }),
    stop: (applicationId) => api.stopApplication({ applicationId }),
    restart: (applicationId) => api.rebootApplication({ applicationId }),
    remove: (applicationId) => api.deleteApplication({ applicationId }),
  },
  container: {
    noun: 'Container',
    plural: 'containers',
    history: (containerId, query) => api.listContainerDeploymentHistoryV2({ containerId, query }),
    deploy: (containerId) => api.deployContainer({ containerId, body: {} }),
    stop: (containerId) => api.stopContainer({ containerId }),
    restart: (containerId) => api.rebootContainer({ containerId }),
    remove: (containerId) => api.deleteContainer({ containerId }),
  },
  database: {
    noun: 'Database',
    plural: 'databases',
    history: (databaseId, query) => api.listDatabaseDeploymentHistoryV2({ databaseId, query }),
    deploy: (databaseId) => api.deployDatabase({ databaseId }),
    stop: (databaseId) => api.stopDatabase({ databaseId }),
    restart: (databaseId) => api.rebootDatabase({ databaseId }),
    remove: (databaseId) => api.deleteDatabase({ databaseId }),
  },
  job: {
    noun: 'Job',
    plural: 'jobs',
    history: (jobId, query) => api.listJobDeploymentHistoryV2({ jobId, query }),
    deploy: (jobId) => api.deployJob({ jobId }),
    stop: (jobId) => api.stopJob({ jobId }),
    restart: undefined,
    remove: (jobId) => api.deleteJob({ jobId }),
  },
  helm: {
    noun: 'Helm chart',
    plural: 'helms',
    history: (helmId, query) => api.listHelmDeploymentHistoryV2({ helmId, query }),
    deploy: (helmId) => api.deployHelm({ helmId }),
    stop: (helmId) => api.stopHelm({ helmId }),
    restart: undefined,
    remove: (helmId, ending) => api.deleteHelm({ helmId, ...chartEnding(ending) }),
  },
  terraform: {
    noun: 'Terraform stack',
    plural: 'terraforms',
    history: (terraformId, query) => api.listTerraformDeploymentHistoryV2({ terraformId, query }),
    deploy: (terraformId) => api.deployTerraform({ terraformId }),
    stop: undefined,
    restart: undefined,
    remove: (terraformId, ending) => api.deleteTerraform({ terraformId, ...stackDeletion(ending) }),
  },
}

/** The kinds, in the order of the API. Object.keys loses their type. */
export const kindNames = Object.keys(kinds) as KindName[]

export type { KindName }

/** Whether a text of an address names a kind. */
export const isKind = (name: string): name is KindName => Object.hasOwn(kinds, name)
