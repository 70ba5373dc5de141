import type { KindName } from '@quayside/contract/services/kinds.ts'
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

/** The owner of variables: a project, an environment, or a service of a kind that has them. */
export interface VariablePlace {
  readonly scope: 'PROJECT' | 'ENVIRONMENT' | ServiceScope
  readonly parentId: string
}
export type ServiceScope = 'APPLICATION' | 'CONTAINER' | 'JOB' | 'HELM' | 'TERRAFORM'

/** The scope of the variables of a kind. Databases have none. */
export const scopeOf = {
  application: 'APPLICATION',
  container: 'CONTAINER',
  database: undefined,
  job: 'JOB',
  helm: 'HELM',
  terraform: 'TERRAFORM',
} as const satisfies Record<KindName, ServiceScope | undefined>

export type Variable = Awaited<ReturnType<typeof api.listVariables>>['results'][number]

/** The key of all reads of variables. A change at one place may be visible at others. */
export const variablesKey = ['variables'] as const

/** Lists everything that is visible at a place. */
export const variables = ({ scope, parentId }: VariablePlace) =>
  queryOptions({
    queryKey: [...variablesKey, scope, parentId],
    staleTime: 0,
    queryFn: async () => {
      const { results } = await api.listVariables({ query: { parent_id: parentId, scope } })
      return results.toSorted((one, other) => (one.key < other.key ? -1 : 1))
    },
  })
