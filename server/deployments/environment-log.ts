import type { Database } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import { type DeploymentLine, type LineStore, readDeploymentLog } from '../logs/index.ts'
import type { EnvironmentRow } from '../organizations/index.ts'
import { findExecution, findLastRequest } from './request-store.ts'

/** Where an environment was asked for an execution that it never had. */
export const noExecution = (version: string): AppError =>
  new AppError('invalid', `version: the environment has no execution ${version}.`)

/** The execution of that id, or the last one of the environment; undefined where there is none. */
export async function executionOf(
  database: Database,
  environmentId: string,
  version: string | undefined,
): Promise<string | undefined> {
  const request = version
    ? await findExecution(database, environmentId, version)
    : await findLastRequest(database, environmentId)
  return request?.execution_id
}

/** What a deployment reported, line by line; `version` is its execution id, absent the last one. Unknown: no lines. */
export async function environmentLog(
  database: Database,
  lines: LineStore,
  environment: EnvironmentRow,
  version: string | undefined,
) {
  const execution = await executionOf(database, environment.id, version)
  if (execution === undefined) return []
  return (await readDeploymentLog(lines, execution)).map(toEnvironmentLog(environment, execution))
}

/** Pure: a line of an execution as the API tells it. */
export const toEnvironmentLog =
  (environment: EnvironmentRow, execution: string) =>
  ({ at, level, step, text, transmitter }: DeploymentLine) => ({
    type: level,
    timestamp: new Date(at),
    details: {
      organization_id: environment.organization_id,
      cluster_id: environment.cluster_id,
      execution_id: execution,
      transmitter: transmitter ?? { id: environment.id, name: environment.name, type: 'Environment' },
      stage: { step, id: null, name: null },
    },
    error: level === 'error' ? { tag: step, user_log_message: text } : null,
    message: { safe_message: text },
  })
