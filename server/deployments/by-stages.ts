import { listsOfKinds, type Plural } from './lists-of-kinds.ts'
import { stageStatus } from './queue.ts'
import type { environmentStatuses } from './status.ts'

type Statuses = Awaited<ReturnType<typeof environmentStatuses>>
type Status = Statuses[Plural][number]

interface Stage {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly services: readonly { readonly service_id: string }[]
}

/** Pure: the statuses of an environment's services under the stages that they are in. */
export const byStages = (statuses: Statuses, stages: readonly Stage[]) => ({
  environment: statuses.environment,
  stages: stages.map((stage) => {
    const inside = new Set(stage.services.map(({ service_id }) => service_id))
    const lists = listsOfKinds((_, plural) => statuses[plural].filter(({ id }) => inside.has(id)))
    return { ...lists, stage: describe(stage, Object.values(lists).flat()) }
  }),
})

/** What the last deployment did to a stage; one of which it had nothing has no status. */
function describe({ id, name, description }: Stage, members: readonly Status[]) {
  const deployed = members.filter(({ is_part_last_deployment }) => is_part_last_deployment)
  const seconds = deployed.map(({ steps }) => steps?.total_duration_sec ?? null)
  const total = seconds.includes(null) ? null : Math.max(0, ...seconds.map(Number))
  return {
    id,
    name,
    description,
    ...(deployed.length > 0 && { status: stageStatus(deployed.map(wordOf)) }),
    steps: { stage_id: id, total_duration_sec: total, details: [] },
  }
}

const words = {
  QUEUED: 'QUEUED',
  ONGOING: 'ONGOING',
  CANCELING: 'ONGOING',
  EXECUTING: 'ONGOING',
  SUCCESS: 'DONE',
  ERROR: 'ERROR',
  CANCELED: 'CANCELED',
  NEVER: 'SKIPPED',
} as const
const wordOf = ({ status_details }: Status) => words[status_details.status]
