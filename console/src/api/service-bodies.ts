import type { KindName } from '@quayside/contract/services/kinds.ts'
import { asBody, type Draft } from '../forms/draft.ts'
import { api } from './client.ts'

interface BodyOperations {
  create(environmentId: string, draft: Draft): Promise<{ readonly id: string }>
}

/** The operations that send the settings of a service, by kind. */
export const serviceBodies: Readonly<Record<KindName, BodyOperations>> = {
  application: {
    create: (environmentId, draft) => api.createApplication({ environmentId, body: asBody(draft) }),
  },
  container: {
    create: (environmentId, draft) => api.createContainer({ environmentId, body: asBody(draft) }),
  },
  database: {
    create: (environmentId, draft) => api.createDatabase({ environmentId, body: asBody(draft) }),
  },
  job: {
    create: (environmentId, draft) => api.createJob({ environmentId, body: asBody(draft) }),
  },
  helm: {
    create: (environmentId, draft) => api.createHelm({ environmentId, body: asBody(draft) }),
  },
  terraform: {
    create: (environmentId, draft) => api.createTerraform({ environmentId, body: asBody(draft) }),
  },
}
