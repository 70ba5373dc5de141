import { projectOverview, statusesWithStages } from '../deployments/index.ts'
import type { StateChange } from '../state-changes/index.ts'
import { followChanges } from './follow-changes.ts'
import type { StreamCall } from './stream-call.ts'
import type { Feed, StreamsOptions } from './streams.ts'

/** The statuses of an environment by stages, or of all environments of a project: again whenever one of them changed. */
export function deploymentStatus(
  options: Pick<StreamsOptions, 'database' | 'stateChanges' | 'clock' | 'stages'>,
): Feed {
  return async (call, outlet, signal) => {
    const { type, row } = call.subject
    const concerns = (change: StateChange): boolean =>
      change.type !== 'service.running' &&
      (type === 'environment' ? change.data['environment_id'] === row.id : change.projectId === row.id)
    for await (const _ of followChanges(options, call.organizationId, concerns, signal)) {
      await outlet.send(type === 'environment' ? await ofEnvironment(options, row.id) : await ofProject(options, call))
    }
  }
}

async function ofEnvironment({ database, stages }: Pick<StreamsOptions, 'database' | 'stages'>, id: string) {
  return statusesWithStages(database, id, await stages.list(id))
}

async function ofProject({ database }: Pick<StreamsOptions, 'database'>, call: StreamCall) {
  const { id } = call.subject.row
  const { environment } = call.visible()
  const environments = await projectOverview(database, id)
  return {
    results: environments.filter(({ mode }) => environment(id, mode)).map(({ deployment_status }) => deployment_status),
  }
}
