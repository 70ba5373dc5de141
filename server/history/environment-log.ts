import type { Database } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import { type DeploymentLine, type LineStore, readDeploymentLog } from '../logs/index.ts'
import type { EnvironmentRow } from '../organizations/index.ts'
import { findExecution, findLastRequest, listStagesOfExecution } from '../requests/index.ts'

/** Creates the error for an execution that the environment never had. */
export const noExecution = (version: string): AppError =>
  new AppError('invalid', `version: the environment has no execution ${version}.`)

/** Returns the execution with that id, or the environment's last one. Undefined if none exists. */
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

/**
 * Returns the lines that a deployment reported. `version` is its execution id or the id of its
 * request; the default is the last deployment. Returns no lines for an unknown version.
 */
export async function environmentLog(
  database: Database,
  lines: LineStore,
  environment: EnvironmentRow,
  version: string | undefined,
) {
  const execution = await executionOf(database, environment.id, version)
  if (execution === undefined) return []
  const read = await readDeploymentLog(lines, execution)
  return read.map(
    toEnvironmentLog(environment, execution, await stagesOfExecution(database, environment.id, execution)),
  )
}

/** The stage of each service of an execution, by service id. */
export type StagesOfServices = ReadonlyMap<string, { readonly id: string | null; readonly name: string }>

/** Returns the stage in which an execution acts on each of its services. */
export const stagesOfExecution = async (
  database: Database,
  environmentId: string,
  execution: string,
): Promise<StagesOfServices> => {
  const rows = await listStagesOfExecution(database, environmentId, execution)
  return new Map(rows.map(({ service_id, id, name }) => [service_id, { id, name }]))
}

/** Pure: returns a line in API format. A line of the environment itself has no stage. */
export const toEnvironmentLog =
  (environment: EnvironmentRow, execution: string, stages: StagesOfServices) =>
  ({ at, level, step, text, transmitter }: DeploymentLine) => ({
    type: level,
    timestamp: new Date(at),
    details: {
      organization_id: environment.organization_id,
      cluster_id: environment.cluster_id,
      execution_id: execution,
      transmitter: transmitter ?? { id: environment.id, name: environment.name, type: 'Environment' },
      stage: { step, ...(stages.get(transmitter?.id ?? '') ?? { id: null, name: null }) },
    },
    error: level === 'error' ? { tag: step, user_log_message: text } : null,
    message: { safe_message: text },
  })
