import type { Database } from '../database/index.ts'
import { type LineStore, readDeploymentLog } from '../logs/index.ts'
import type { EnvironmentRow } from '../organizations/index.ts'
import { findExecution, findLastRequest } from './request-store.ts'

/** What a deployment reported, line by line; `version` is its execution id, absent the last one. Unknown: no lines. */
export async function environmentLog(
  database: Database,
  lines: LineStore,
  environment: EnvironmentRow,
  version: string | undefined,
) {
  const request = version
    ? await findExecution(database, environment.id, version)
    : await findLastRequest(database, environment.id)
  if (!request) return []
  const stored = await readDeploymentLog(lines, request.execution_id)
  return stored.map(({ at, level, step, text, transmitter }) => ({
    type: level,
    timestamp: new Date(at),
    details: {
      organization_id: environment.organization_id,
      cluster_id: environment.cluster_id,
      execution_id: request.execution_id,
      transmitter: transmitter ?? { id: environment.id, name: environment.name, type: 'Environment' },
      stage: { step, id: null, name: null },
    },
    error: level === 'error' ? { tag: step, user_log_message: text } : null,
    message: { safe_message: text },
  }))
}
