import { serviceTypeOf } from '@quayside/contract/enums.ts'
import { triggerActionOf } from '@quayside/contract/services/stack-terms.ts'
import type { Database } from '../database/index.ts'
import { listActiveRequests, listTargets, type TargetRow } from '../requests/index.ts'
import { stageStatus, toStageStatus } from './stage-status.ts'

/** Lists the running and queued deployment requests of an environment by stage, in order. */
export async function deploymentQueue(database: Database, environmentId: string) {
  const requests = await listActiveRequests(database, environmentId)
  const targets = await listTargets(
    database,
    requests.map(({ id }) => id),
  )
  return requests.map((request) => {
    const own = targets.filter((target) => target.request_id === request.id)
    return {
      identifier: { deployment_request_id: request.id, environment_id: environmentId },
      auditing_data: { triggered_by: request.triggered_by, origin: request.origin },
      trigger_action: triggerActionOf(request.action, own),
      stages: toStages(own),
    }
  })
}

function toStages(targets: readonly TargetRow[]) {
  return [...Map.groupBy(targets, (target) => target.stage_order)].map(([, members]) => ({
    name: members[0]?.stage_name ?? '',
    status: stageStatus(members.map((member) => toStageStatus(member.status))),
    services: members.map((target) => ({
      identifier: { service_id: target.service_id, service_type: serviceTypeOf(target.kind), name: target.name },
      status: toStageStatus(target.status),
      icon_uri: target.icon_uri,
    })),
  }))
}
