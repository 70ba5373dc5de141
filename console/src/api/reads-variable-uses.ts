import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import type { VariablePlace } from './reads-variables.ts'

export type VariableUses = Awaited<ReturnType<typeof api.listEnvironmentVariableUses>>
export type VariableUse = VariableUses['results'][number]

/** The uses of variables in an environment, and the services that refer to each other by them. */
export const environmentUses = (environmentId: string) =>
  queryOptions({
    queryKey: ['environment', environmentId, 'variable-uses'],
    staleTime: 0,
    queryFn: () => api.listEnvironmentVariableUses({ environmentId }),
  })

const projectUses = (projectId: string) =>
  queryOptions({
    queryKey: ['variables', 'uses', projectId],
    staleTime: 0,
    queryFn: () => api.listProjectVariableUses({ projectId }),
  })

/** The uses of the variables that a place lists. A service belongs to the environment. */
export const usesAt = ({ scope, parentId }: VariablePlace, environmentId: string | undefined) =>
  scope === 'PROJECT' ? projectUses(parentId) : environmentUses(environmentId ?? parentId)

/** Pure: the uses of each variable, by its id. */
export function usesById(uses: readonly VariableUse[]): ReadonlyMap<string, readonly VariableUse[]> {
  const found = new Map<string, VariableUse[]>()
  for (const use of uses) {
    const list = found.get(use.variable_id)
    if (list) list.push(use)
    else found.set(use.variable_id, [use])
  }
  return found
}
