import { executionOf, noExecution, stagesOfExecution, toEnvironmentLog } from '../history/index.ts'
import { deploymentLine, deploymentStream } from '../logs/index.ts'
import { batched } from './batched.ts'
import { followChanges } from './follow-changes.ts'
import { environmentOf, textOf } from './stream-call.ts'
import type { Feed, StreamsOptions } from './streams.ts'

const mostLines = 200

/**
 * Sends the past and future log of the execution `version`. Without it, the log of the last
 * execution and of each later one.
 */
export function deploymentLogs(options: Pick<StreamsOptions, 'database' | 'stateChanges' | 'clock' | 'lines'>): Feed {
  return async (call, outlet, signal) => {
    const environment = environmentOf(call)
    const version = textOf(call, 'version')
    const begun = (change: { type: string; data: Readonly<Record<string, string>> }): boolean =>
      change.type === 'deployment.status' && change.data['environment_id'] === environment.id
    let present:
      | { readonly execution: string; readonly stop: AbortController; readonly ended: Promise<void> }
      | undefined
    const broken = new AbortController()
    const ends = AbortSignal.any([signal, broken.signal])
    try {
      for await (const _ of followChanges(options, call.organizationId, begun, ends)) {
        const execution = await executionOf(options.database, environment.id, version)
        if (execution === undefined && version) throw noExecution(version)
        if (execution === undefined || execution === present?.execution) continue
        present?.stop.abort()
        await present?.ended
        const stop = new AbortController()
        const ended = tell(execution, AbortSignal.any([signal, stop.signal])).catch((error) => broken.abort(error))
        present = { execution, stop, ended }
      }
    } finally {
      present?.stop.abort()
      await present?.ended
    }
    if (broken.signal.aborted) throw broken.signal.reason

    async function tell(execution: string, until: AbortSignal): Promise<void> {
      const lines = options.lines.follow(deploymentStream(execution), 0, until)
      for await (const batch of batched(lines, mostLines)) {
        // A waiting request may include further services, and their stages may change until it
        // begins.
        const stages = await stagesOfExecution(options.database, environment.id, execution)
        const toLog = toEnvironmentLog(environment, execution, stages)
        await outlet.send(batch.map((line) => toLog(deploymentLine(line))))
      }
    }
  }
}
