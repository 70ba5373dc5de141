import type { KindName } from '@quayside/contract/services/kinds.ts'
import type { api } from './client.ts'
import { kindNames, kinds } from './kinds.ts'

type Statuses = Awaited<ReturnType<typeof api.getEnvironmentStatusesWithStages>>
type Stages = Awaited<ReturnType<typeof api.ListEnvironmentDeploymentStage>>['results']
export type Stage = Stages[number]
type Services = Awaited<ReturnType<typeof api.listServicesByEnvironmentId>>['results']
type Status = NonNullable<Statuses['stages'][number]['applications']>[number]

/** A service of an environment with its state. */
export interface ServiceRow {
  readonly id: string
  readonly name: string
  readonly kind: KindName
  readonly status: Status
}

export interface StageRow {
  readonly id: string
  readonly name: string
  readonly services: readonly ServiceRow[]
}

/** Pure: lists the services of each stage, in the order of deployments, without empty stages. */
export function stageRows(statuses: Statuses, stages: Stages, services: Services): StageRow[] {
  const names = new Map(services.map(({ id, name }) => [id, name]))
  const byId = new Map<string, ServiceRow>()
  for (const stage of statuses.stages) {
    for (const kind of kindNames) {
      for (const status of stage[kinds[kind].plural] ?? []) {
        byId.set(status.id, { id: status.id, name: names.get(status.id) ?? 'deleted', kind, status })
      }
    }
  }
  return stages
    .map(({ id, name, services: inside }) => ({
      id,
      name,
      services: (inside ?? []).flatMap(({ service_id }) => byId.get(service_id) ?? []),
    }))
    .filter(({ services: inside }) => inside.length > 0)
}

/** Pure: the status of a service of an environment. Undefined if it is deleted. */
export const findStatus = (statuses: Statuses, kind: KindName, serviceId: string): Status | undefined =>
  statuses.stages.flatMap((stage) => stage[kinds[kind].plural] ?? []).find(({ id }) => id === serviceId)

/** Pure: whether an environment has no service. */
export const isEmpty = ({ stages }: Statuses): boolean =>
  stages.every((stage) => kindNames.every((kind) => (stage[kinds[kind].plural] ?? []).length === 0))
