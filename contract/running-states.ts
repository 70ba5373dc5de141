import type { RunningState } from './resources/stream.ts'
import type { KindName } from './services/kinds.ts'

export const observedStates = ['absent', 'running', 'warning', 'starting', 'failing', 'stopped'] as const
/** The observed state of a service on its engine. */
export type ObservedState = (typeof observedStates)[number]
/** The API's word for each observed state, and for a completed job. */
export const runningStates = {
  absent: 'STOPPED',
  running: 'RUNNING',
  warning: 'WARNING',
  starting: 'STARTING',
  failing: 'ERROR',
  stopped: 'STOPPED',
  completed: 'COMPLETED',
} as const satisfies Record<ObservedState | 'completed', RunningState>

/** The list of each kind in a message of `/service/status`, and its field besides the pods. */
export const statusLists = {
  application: { list: 'applications', has: 'certificates' },
  container: { list: 'containers', has: 'certificates' },
  job: { list: 'jobs', has: 'certificates' },
  helm: { list: 'helms', has: 'certificates' },
  database: { list: 'databases', has: 'nothing' },
  terraform: { list: 'terraform', has: 'action' },
} as const satisfies Record<KindName, { readonly list: string; readonly has: 'certificates' | 'nothing' | 'action' }>
