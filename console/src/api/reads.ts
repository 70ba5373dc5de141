import type { Wire } from '@quayside/client/client-of.ts'
import type { Static } from '@quayside/contract'
import type { DeploymentPlan } from '@quayside/contract/resources/deployment-plan.ts'
import type { KindName } from '@quayside/contract/services/kinds.ts'
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

// The reads of the pages. A key begins with the object that it is about, so that an event of the
// stream finds the reads that it makes old.

export const organizations = () =>
  queryOptions({ queryKey: ['organizations'], queryFn: async () => (await api.listOrganization({})).results })

/** A project with its environments, and the state of each. */
export const projects = (organizationId: string) =>
  queryOptions({
    queryKey: ['organization', organizationId, 'projects'],
    queryFn: async () => {
      const { results } = await api.listProject({ organizationId })
      return Promise.all(
        results.map(async (project) => {
          const overview = await api.getProjectEnvironmentsOverview({ projectId: project.id })
          return { ...project, environments: overview.results }
        }),
      )
    },
  })

export const project = (projectId: string) =>
  queryOptions({ queryKey: ['project', projectId], queryFn: () => api.getProject({ projectId }) })

export const environment = (environmentId: string) =>
  queryOptions({
    queryKey: ['environment', environmentId],
    queryFn: () => api.getEnvironment({ environmentId }),
  })

/** The services of an environment by id, with their names and kinds. */
export const services = (environmentId: string) =>
  queryOptions({
    queryKey: ['environment', environmentId, 'services'],
    queryFn: async () => (await api.listServicesByEnvironmentId({ environmentId })).results,
  })

export const stages = (environmentId: string) =>
  queryOptions({
    queryKey: ['environment', environmentId, 'stages'],
    queryFn: () => api.getEnvironmentStatusesWithStages({ environmentId }),
  })

export const stageNames = (environmentId: string) =>
  queryOptions({
    queryKey: ['environment', environmentId, 'stage-names'],
    queryFn: async () => (await api.ListEnvironmentDeploymentStage({ environmentId })).results,
  })

export const links = (environmentId: string) =>
  queryOptions({
    queryKey: ['environment', environmentId, 'links'],
    queryFn: async () => (await api.listEnvironmentServicesLinks({ environmentId })).results,
  })

export type { KindName }

/** The effect of a deployment on each service. It is compared again each time. */
export const deploymentPlan = (environmentId: string) =>
  queryOptions({
    queryKey: ['environment', environmentId, 'plan'],
    queryFn: async () => (await api.deployEnvironment({ environmentId, query: { dry_run: true } })) as unknown as Plan,
    staleTime: 0,
    gcTime: 0,
  })

/** The reply of a dry run, which the contract declares beside the reply of the operation. */
export type Plan = Wire<Static<typeof DeploymentPlan>>
