import type { RunningState } from './resources/stream.ts'
import type { KindName } from './services/kinds.ts'

export const observedStates = ['absent', 'running', 'warning', 'starting', 'failing', 'stopped'] as const
/** What an engine was seen to run of a service. */
export type ObservedState = (typeof observedStates)[number]
/** The API's word for it; of a job, whose runs tell, for what they tell. */
export const runningStates = {
  absent: 'STOPPED',
  running: 'RUNNING',
  warning: 'WARNING',
  starting: 'STARTING',
  failing: 'ERROR',
  stopped: 'STOPPED',
  completed: 'COMPLETED',
} as const satisfies Record<ObservedState | 'completed', RunningState>

/** Where the services of each kind stand in a message of `/service/status`, and what they have there beside their pods. */
export const statusLists = {
  application: { list: 'applications', has: 'certificates' },
  container: { list: 'containers', has: 'certificates' },
  job: { list: 'jobs', has: 'certificates' },
  helm: { list: 'helms', has: 'certificates' },
  database: { list: 'databases', has: 'nothing' },
  terraform: { list: 'terraform', has: 'action' },
} as const satisfies Record<KindName, { readonly list: string; readonly has: 'certificates' | 'nothing' | 'action' }>
