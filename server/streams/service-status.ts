import type { StateChange } from '../state-changes/index.ts'
import { followChanges } from './follow-changes.ts'
import { toServiceStatus } from './running.ts'
import { listRunning } from './running-store.ts'
import { type StreamCall, textOf } from './stream-call.ts'
import type { Feed, StreamsOptions } from './streams.ts'

/** Sends what runs: everything first, then the environments with changes. */
export function serviceStatus(options: Pick<StreamsOptions, 'database' | 'stateChanges' | 'clock'>): Feed {
  return async (call, outlet, signal) => {
    const place = placeOf(call)
    let isFirst = true
    for await (const changed of followChanges(options, call.organizationId, concerns(place), signal)) {
      const environmentIds = place.environmentId ? [place.environmentId] : isFirst ? undefined : [...changed]
      isFirst = false
      const rows = await listRunning(options.database, { ...place, environmentIds })
      const { environment } = call.visible()
      await outlet.send(toServiceStatus(rows.filter((row) => environment(row.project_id, row.mode))))
    }
  }
}

function placeOf(call: StreamCall) {
  const { subject } = call
  return {
    clusterId: subject.type === 'cluster' ? subject.row.id : textOf(call, 'cluster'),
    projectId: subject.type === 'project' ? subject.row.id : textOf(call, 'project'),
    environmentId: subject.type === 'environment' ? subject.row.id : undefined,
  }
}

const types = new Set(['service.running', 'service.state', 'service.created', 'service.deleted', 'environment.created'])

const concerns =
  ({ clusterId, projectId, environmentId }: ReturnType<typeof placeOf>) =>
  (change: StateChange): boolean =>
    types.has(change.type) &&
    (environmentId === undefined || change.data['environment_id'] === environmentId) &&
    (projectId === undefined || change.projectId === projectId) &&
    (clusterId === undefined || change.clusterId === clusterId)
