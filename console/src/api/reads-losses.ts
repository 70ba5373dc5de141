import { queryOptions } from '@tanstack/react-query'
import { isKind } from './kinds.ts'
import { lossesOf, type Service } from './losses.ts'
import { variables } from './reads-variables.ts'
import { attachedTo } from './service-bodies.ts'

/** The things that a deletion of an environment loses, by name. It is read for each deletion. */
export const environmentLosses = (environmentId: string, services: readonly Service[]) =>
  queryOptions({
    queryKey: ['environment', environmentId, 'losses', ...services.map(({ id }) => id)],
    staleTime: 0,
    queryFn: async ({ client }): Promise<readonly string[]> => {
      const own = await client.fetchQuery(variables({ scope: 'ENVIRONMENT', parentId: environmentId }))
      const attached = await Promise.all(services.map(lossesWith))
      const keys = own.filter(({ scope }) => scope === 'ENVIRONMENT').map(({ key }) => key)
      return [...attached.flat(), ...(keys.length === 0 ? [] : [`its variables and secrets ${keys.join(', ')}`])]
    },
  })

async function lossesWith(service: Service): Promise<readonly string[]> {
  const { id, name, service_type: type } = service
  const kind = type.toLowerCase()
  const attached = isKind(kind) ? await attachedTo(kind, id) : []
  return [`the ${kind} ${name}`, ...lossesOf(service), ...attached.map((loss) => `${loss} (of ${name})`)]
}
