import type { KindName } from '@quayside/contract/services/kinds.ts'
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

// Deployment restrictions, whose operations differ by the kind of the service.

type Body = Parameters<typeof api.createApplicationDeploymentRestriction>[0]['body']
type List = ReturnType<typeof api.getApplicationDeploymentRestrictions>

interface RestrictionOperations {
  list(id: string): List
  add(id: string, body: Body): Promise<unknown>
  remove(id: string, deploymentRestrictionId: string): Promise<unknown>
}

/** The kinds that are deployed by pushes to a repository. */
export type KindWithRestrictions = Extract<KindName, 'application' | 'job' | 'helm' | 'terraform'>

export const restrictionsOf: Readonly<Record<KindWithRestrictions, RestrictionOperations>> = {
  application: {
    list: (applicationId) => api.getApplicationDeploymentRestrictions({ applicationId }),
    add: (applicationId, body) => api.createApplicationDeploymentRestriction({ applicationId, body }),
    remove: (applicationId, deploymentRestrictionId) =>
      api.deleteApplicationDeploymentRestriction({ applicationId, deploymentRestrictionId }),
  },
  job: {
    list: (jobId) => api.getJobDeploymentRestrictions({ jobId }),
    add: (jobId, body) => api.createJobDeploymentRestriction({ jobId, body }),
    remove: (jobId, deploymentRestrictionId) => api.deleteJobDeploymentRestriction({ jobId, deploymentRestrictionId }),
  },
  helm: {
    list: (helmId) => api.getHelmDeploymentRestrictions({ helmId }),
    add: (helmId, body) => api.createHelmDeploymentRestriction({ helmId, body }),
    remove: (helmId, deploymentRestrictionId) =>
      api.deleteHelmDeploymentRestriction({ helmId, deploymentRestrictionId }),
  },
  terraform: {
    list: (terraformId) => api.getTerraformDeploymentRestrictions({ terraformId }),
    add: (terraformId, body) => api.createTerraformDeploymentRestriction({ terraformId, body }),
    remove: (terraformId, deploymentRestrictionId) =>
      api.deleteTerraformDeploymentRestriction({ terraformId, deploymentRestrictionId }),
  },
}

/** Whether services of a kind have deployment restrictions. */
export const hasRestrictions = (kind: KindName): kind is KindWithRestrictions => Object.hasOwn(restrictionsOf, kind)

export const aboutRestrictions = (environmentId: string, serviceId: string) =>
  ['environment', environmentId, 'restrictions', serviceId] as const

export const restrictions = (environmentId: string, kind: KindWithRestrictions, serviceId: string) =>
  queryOptions({
    queryKey: aboutRestrictions(environmentId, serviceId),
    queryFn: async () => (await restrictionsOf[kind].list(serviceId)).results,
    staleTime: 0,
  })
