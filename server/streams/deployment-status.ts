import { projectOverview, statusesOfExecution, statusesWithStages } from '../history/index.ts'
import { AppError } from '../lib/error.ts'
import type { StateChange } from '../state-changes/index.ts'
import { followChanges } from './follow-changes.ts'
import { type StreamCall, textOf } from './stream-call.ts'
import type { Feed, StreamsOptions } from './streams.ts'

/**
 * Sends the statuses of an environment by stage, the current ones or those of the execution
 * `version`, or of all environments of a project. It sends them again whenever one of them changes.
 */
export function deploymentStatus(
  options: Pick<StreamsOptions, 'database' | 'stateChanges' | 'clock' | 'stages'>,
): Feed {
  return async (call, outlet, signal) => {
    const { type, row } = call.subject
    const version = textOf(call, 'version')
    if (version !== undefined && type !== 'environment')
      throw new AppError('invalid', 'version: send its environment too.')
    const concerns = (change: StateChange): boolean =>
      change.type !== 'service.running' &&
      (type === 'environment' ? change.data['environment_id'] === row.id : change.projectId === row.id)
    for await (const _ of followChanges(options, call.organizationId, concerns, signal)) {
      await outlet.send(
        type === 'environment' ? await ofEnvironment(options, row.id, version) : await ofProject(options, call),
      )
    }
  }
}

async function ofEnvironment(
  { database, stages }: Pick<StreamsOptions, 'database' | 'stages'>,
  id: string,
  version: string | undefined,
) {
  const list = await stages.list(id)
  return version === undefined
    ? statusesWithStages(database, id, list)
    : statusesOfExecution(database, id, list, version)
}

async function ofProject({ database }: Pick<StreamsOptions, 'database'>, call: StreamCall) {
  const { id } = call.subject.row
  const { environment } = call.visible()
  const environments = await projectOverview(database, id)
  return {
    results: environments.filter(({ mode }) => environment(id, mode)).map(({ deployment_status }) => deployment_status),
  }
}
