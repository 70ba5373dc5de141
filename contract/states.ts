/** The states and actions of services and deployment requests. The names are the API's. */
export const stateNames = [
  'BUILDING',
  'BUILD_ERROR',
  'CANCELED',
  'CANCELING',
  'DELETED',
  'DELETE_ERROR',
  'DELETE_QUEUED',
  'DELETING',
  'DEPLOYED',
  'DEPLOYING',
  'DEPLOYMENT_ERROR',
  'DEPLOYMENT_QUEUED',
  'EXECUTING',
  'QUEUED',
  'READY',
  'RECAP',
  'RESTARTED',
  'RESTARTING',
  'RESTART_ERROR',
  'RESTART_QUEUED',
  'STOPPED',
  'STOPPING',
  'STOP_ERROR',
  'STOP_QUEUED',
  'UNAVAILABLE',
  'WAITING_DELETING',
  'WAITING_RESTARTING',
  'WAITING_RUNNING',
  'WAITING_STOPPING',
] as const
export type State = (typeof stateNames)[number]

export const actions = ['DEPLOY', 'STOP', 'RESTART', 'DELETE', 'UNINSTALL'] as const
/** The action of a deployment request. */
export type Action = (typeof actions)[number]

export const requestStatuses = ['QUEUED', 'ONGOING', 'SUCCESS', 'ERROR', 'CANCELED', 'CANCELING'] as const
export type RequestStatus = (typeof requestStatuses)[number]

/**
 * The states of a service during each action: `queued` from acceptance to the first step, `working`
 * while the engine acts, then `done` or `failed`.
 */
export const phases = {
  DEPLOY: { queued: 'DEPLOYMENT_QUEUED', working: 'DEPLOYING', done: 'DEPLOYED', failed: 'DEPLOYMENT_ERROR' },
  STOP: { queued: 'STOP_QUEUED', working: 'STOPPING', done: 'STOPPED', failed: 'STOP_ERROR' },
  RESTART: { queued: 'RESTART_QUEUED', working: 'RESTARTING', done: 'RESTARTED', failed: 'RESTART_ERROR' },
  DELETE: { queued: 'DELETE_QUEUED', working: 'DELETING', done: 'DELETED', failed: 'DELETE_ERROR' },
  UNINSTALL: { queued: 'DELETE_QUEUED', working: 'DELETING', done: 'DELETED', failed: 'DELETE_ERROR' },
} as const satisfies Record<Action, Record<'queued' | 'working' | 'done' | 'failed', State>>

const passing: ReadonlySet<State> = new Set<State>([
  'BUILDING',
  'CANCELING',
  'DELETE_QUEUED',
  'DELETING',
  'DEPLOYING',
  'DEPLOYMENT_QUEUED',
  'EXECUTING',
  'QUEUED',
  'RESTARTING',
  'RESTART_QUEUED',
  'STOPPING',
  'STOP_QUEUED',
])

/** The states of a cluster with an operation in progress. */
export const passingClusterStates = [
  'DEPLOYMENT_QUEUED',
  'DEPLOYING',
  'DRY_RUN',
  'STOP_QUEUED',
  'STOPPING',
  'DELETE_QUEUED',
  'DELETING',
] as const

/** Returns whether no request is in progress for a service in this state. */
export const isAtRest = (state: State): boolean => !passing.has(state)
export const isFailed = (state: State): boolean => state.endsWith('_ERROR')

/**
 * Returns why the action is not allowed in this state, or undefined. Requests queue, so passing
 * states allow most actions.
 */
export function refusal(action: Action, state: State): string | undefined {
  if (action === 'DELETE') return undefined
  if (state === 'DELETING' || state === 'DELETE_QUEUED') return 'it is being deleted'
  if (action === 'STOP' && state === 'READY') return 'it was never deployed'
  if (action === 'STOP' && state === 'STOPPED') return 'it is already stopped'
  if ((action === 'STOP' || action === 'RESTART') && state === 'DELETED') return 'it is uninstalled'
  if (action === 'RESTART' && state === 'READY') return 'it was never deployed'
  if (action === 'RESTART' && state === 'STOPPED') return 'it is stopped; deploy it instead'
  return undefined
}

/**
 * Returns the state of an environment from those of its services: states in progress come first
 * (docs/adr/0032), then errors, then settled ones. READY if nothing was ever deployed. An existing
 * environment is never DELETED, because clients would take it for gone. It is STOPPED if its
 * services are uninstalled.
 */
export function environmentState(states: readonly State[]): State {
  const firstOf = (...candidates: State[]): State | undefined => candidates.find((state) => states.includes(state))
  const underWay = firstOf(
    'CANCELING',
    'DELETING',
    'BUILDING',
    'DEPLOYING',
    'EXECUTING',
    'RESTARTING',
    'STOPPING',
    'DELETE_QUEUED',
    'DEPLOYMENT_QUEUED',
    'RESTART_QUEUED',
    'STOP_QUEUED',
    'QUEUED',
  )
  // Clients poll environments and do not know EXECUTING there.
  if (underWay) return underWay === 'EXECUTING' ? 'DEPLOYING' : underWay
  const failed = firstOf('BUILD_ERROR', 'DEPLOYMENT_ERROR', 'RESTART_ERROR', 'STOP_ERROR', 'DELETE_ERROR')
  if (failed) return failed
  const atRest = firstOf('DEPLOYED', 'RESTARTED', 'STOPPED', 'CANCELED', 'DELETED') ?? 'READY'
  return atRest === 'DELETED' ? 'STOPPED' : atRest
}

/**
 * The states of a service for clients of the specification, which know RUNNING, STOPPED and ERROR.
 */
export const shortStateNames = [...stateNames, 'RUNNING', 'ERROR'] as const

/**
 * Returns the state for clients of the specification, which know RUNNING, STOPPED and ERROR.
 * `failing` means that the service exits repeatedly, so it is not RUNNING.
 */
export function specificationState(state: State, failing: boolean): (typeof shortStateNames)[number] {
  if (state === 'DEPLOYED' || state === 'RESTARTED') return failing ? 'ERROR' : 'RUNNING'
  return isFailed(state) ? 'ERROR' : state
}
