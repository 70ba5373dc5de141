import { type LogState, logScopeOf } from '@quayside/contract/resources/deployment-history.ts'
import { derivedId } from '../lib/id.ts'
import type { environmentLog } from './environment-log.ts'

type Line = Awaited<ReturnType<typeof environmentLog>>[number]

/** The lines of a deployment in the older format of the log. */
export const toEnvironmentLogV1 = (lines: readonly Line[]) =>
  lines.map(({ timestamp, details, message }, index) => {
    const { transmitter, execution_id, stage } = details
    return {
      id: derivedId('environment log', execution_id, String(index)),
      created_at: timestamp,
      scope: { type: logScopeOf(transmitter.type), name: transmitter.name, id: transmitter.id },
      state: states[stage.step] ?? 'WAITING',
      message: message.safe_message,
      execution_id,
    }
  })

/** Words of the older format by the step that reported the line. */
const states: Readonly<Record<string, LogState>> = {
  Build: 'DEPLOYMENT_IN_PROGRESS',
  Built: 'DEPLOYMENT_IN_PROGRESS',
  BuiltError: 'DEPLOYMENT_ERROR',
  Deploy: 'DEPLOYMENT_IN_PROGRESS',
  Deployed: 'DEPLOYED',
  DeployedError: 'DEPLOYMENT_ERROR',
  Pause: 'PAUSE_IN_PROGRESS',
  Paused: 'PAUSED',
  PausedError: 'PAUSE_ERROR',
  Delete: 'DELETE_IN_PROGRESS',
  Deleted: 'DELETED',
  DeletedError: 'DELETE_ERROR',
  Restart: 'DEPLOYMENT_IN_PROGRESS',
  Restarted: 'DEPLOYED',
  RestartedError: 'DEPLOYMENT_ERROR',
  Cancelled: 'CANCELED',
}
