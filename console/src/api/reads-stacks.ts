import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { deploymentPlan } from './reads.ts'

// The reads of Terraform stacks. Their keys begin with the environment, whose events make them
// old.

export type StackRun = Awaited<ReturnType<typeof api.listTerraformRuns>>['results'][number]
export type StackPlan = Awaited<ReturnType<typeof api.getTerraformPlan>>
export type StackState = Awaited<ReturnType<typeof api.listTerraformStates>>['results'][number]
export type PlannedResource = StackPlan['resources'][number]

/** The place of a stack in the keys of its reads. */
export interface StackPlace {
  readonly environmentId: string
  readonly serviceId: string
}

export const aboutStack = ({ environmentId, serviceId }: StackPlace, ...what: readonly string[]) =>
  ['environment', environmentId, 'stack', serviceId, ...what] as const

export const stackRuns = (place: StackPlace) =>
  queryOptions({
    queryKey: aboutStack(place, 'runs'),
    queryFn: async () => (await api.listTerraformRuns({ terraformId: place.serviceId })).results,
    staleTime: 0,
  })

/** The plan of a run, which never changes. */
export const stackPlan = (place: StackPlace, runId: string) =>
  queryOptions({
    queryKey: ['plan of a run', runId],
    queryFn: () => api.getTerraformPlan({ terraformId: place.serviceId, runId }),
  })

/** The newest plan that was not applied, from a dry run. Null if there is none. */
export const unappliedPlan = ({ environmentId, serviceId }: StackPlace) =>
  queryOptions({
    ...deploymentPlan(environmentId),
    select: ({ services }) => services.find(({ service_id: id }) => id === serviceId)?.stack_plan ?? null,
  })

export const stackStates = (place: StackPlace) =>
  queryOptions({
    queryKey: aboutStack(place, 'states'),
    queryFn: async () => (await api.listTerraformStates({ terraformId: place.serviceId })).results,
    staleTime: 0,
  })

export const stackResources = (place: StackPlace) =>
  queryOptions({
    queryKey: aboutStack(place, 'resources'),
    queryFn: async () => (await api.getTerraformResources({ terraformId: place.serviceId })).results,
    staleTime: 0,
  })

export const driftPolicy = (place: StackPlace) =>
  queryOptions({
    queryKey: aboutStack(place, 'drift'),
    queryFn: () => api.getTerraformDriftPolicy({ terraformId: place.serviceId }),
    staleTime: 0,
    // No event reports the end of a check.
    refetchInterval: ({ state }) => (state.data?.last_run?.status === 'RUNNING' ? 1_000 : false),
  })

/** The outputs of a stack, which are variables of its environment. */
export const stackOutputs = (place: StackPlace) =>
  queryOptions({
    queryKey: aboutStack(place, 'outputs'),
    queryFn: async () => {
      const { results } = await api.listVariables({ query: { parent_id: place.environmentId, scope: 'ENVIRONMENT' } })
      const prefix = `QOVERY_OUTPUT_TERRAFORM_Z${place.serviceId.slice(0, 8).toUpperCase()}_`
      return results
        .filter(({ key }) => key.startsWith(prefix))
        .map(({ key, value, is_secret: isSecret }) => ({ name: key.slice(prefix.length), value, isSecret }))
    },
    staleTime: 0,
  })

/** Pure: whether a run has left its lock, which only a person releases. */
export const isLocked = (runs: readonly StackRun[]): boolean => runs[0]?.status === 'LOST'
