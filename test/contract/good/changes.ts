import type { OperationName } from '../../../contract/contract.ts'
import type { Good } from '../requests.ts'

/** The record of changes. */
export const changes: Partial<Record<OperationName, Good>> = {
  getOrganizationEvents: {
    // The fixture creates its objects without the API, so something must be changed first.
    prepare: async ({ call, a }, { projectId }) => {
      await call(a.tokens.ADMIN, 'PUT', `/project/${projectId}`, { name: `Renamed ${projectId}` })
      return undefined
    },
  },
  getOrganizationEventTargets: {
    prepare: async ({ call, a }, { projectId }) => {
      await call(a.tokens.ADMIN, 'PUT', `/project/${projectId}`, { name: `Renamed ${projectId}` })
      return undefined
    },
  },
}
