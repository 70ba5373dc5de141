import { type Action, actions, isAtRest, phases, refusal, type State, stateNames } from './states.ts'

/**
 * The state machine of a service. A service begins `READY`.
 *
 * A *settled* state (`isAtRest`) holds until a request is accepted, or until the disk guard stops
 * the service. A *passing* state belongs to the request that acts on the service or is the next to
 * act: only the end or the cancellation of that request leaves it.
 *
 * A request accepted while another one has the service changes nothing at first: its state is
 * entered by `comes next`, in the statement that ends the other one. Steps may run twice, so
 * writing the state that a service already has is always allowed.
 */
export type StateEvent =
  | 'accepted'
  | 'begun'
  | 'ended well'
  | 'ended badly'
  | 'being cancelled'
  | 'cancelled'
  | 'skipped'
  | 'comes next'
  | 'disk is full'

export interface Transition {
  readonly event: StateEvent
  /** The actions of a request with this transition; empty: no request is involved. */
  readonly actions: readonly Action[]
  readonly from: readonly State[]
  /** More than one: the event alone does not decide it. */
  readonly to: readonly State[]
  /** Who causes it. */
  readonly by: 'a request' | 'the deployment' | 'a cancellation' | 'the disk guard'
}

export const initialState: State = 'READY'

/** States of the API that no service of this platform enters. */
export const foreignStates: readonly State[] = [
  'QUEUED',
  'RECAP',
  'UNAVAILABLE',
  'WAITING_DELETING',
  'WAITING_RESTARTING',
  'WAITING_RUNNING',
  'WAITING_STOPPING',
]

/** Settled states of a service that runs nothing. */
export const idleStates: readonly State[] = ['READY', 'STOPPED', 'DELETED']

const own = stateNames.filter((state) => !foreignStates.includes(state))
const settled = own.filter(isAtRest)
const passing = own.filter((state) => !isAtRest(state))
const queued = [...new Set(actions.map((action) => phases[action].queued))]

/** The states of an action in progress, and what each may follow. */
const working: Readonly<Record<Action, Partial<Record<State, readonly State[]>>>> = {
  DEPLOY: {
    BUILDING: ['DEPLOYMENT_QUEUED'],
    DEPLOYING: ['DEPLOYMENT_QUEUED', 'BUILDING'],
    // A lifecycle job runs to its end.
    EXECUTING: ['DEPLOYMENT_QUEUED', 'BUILDING', 'DEPLOYING'],
  },
  STOP: { STOPPING: ['STOP_QUEUED'] },
  RESTART: { RESTARTING: ['RESTART_QUEUED'] },
  DELETE: { DELETING: ['DELETE_QUEUED'] },
  UNINSTALL: { DELETING: ['DELETE_QUEUED'] },
}

const workingStates = (action: Action): State[] => own.filter((state) => working[action][state] !== undefined)
/** The states that a request of the action may leave a service from when it ends. */
const active = (action: Action): State[] => [phases[action].queued, ...workingStates(action), 'CANCELING']

/** Jobs that run nothing at that moment end without having begun. */
const beginsNothing: readonly Action[] = ['DEPLOY', 'RESTART']

function ofAction(action: Action): Transition[] {
  const by = 'the deployment' as const
  const phase = phases[action]
  const only = [action]
  const allowed = settled.filter((state) => refusal(action, state) === undefined)
  const begun = Object.entries(working[action]).map(
    ([to, from]): Transition => ({ event: 'begun', actions: only, from, to: [to as State], by }),
  )
  const ends = active(action).filter((state) => state !== phase.queued || beginsNothing.includes(action))
  const failed = { event: 'ended badly', actions: only, from: active(action), by } as const
  return [
    { event: 'accepted', actions: only, from: allowed, to: [phase.queued], by: 'a request' },
    ...begun,
    { event: 'ended well', actions: only, from: ends, to: [phase.done], by },
    { ...failed, to: [phase.failed] },
    ...(action === 'DEPLOY'
      ? [{ ...failed, from: failed.from.filter((state) => state !== 'EXECUTING'), to: ['BUILD_ERROR' as const] }]
      : []),
  ]
}

/** Transitions that differ only in their action are one. */
function merged(rows: readonly Transition[]): Transition[] {
  const same = Map.groupBy(rows, ({ event, from, to }) => JSON.stringify([event, from, to]))
  return [...same.values()].flatMap(([first, ...others]) =>
    first ? { ...first, actions: [...first.actions, ...others.flatMap((row) => row.actions)] } : [],
  )
}

const anyAction: readonly Action[] = actions

/** Every change of a service's state. */
export const transitions: readonly Transition[] = [
  ...merged(actions.flatMap(ofAction)),
  { event: 'being cancelled', actions: anyAction, from: passing, to: ['CANCELING'], by: 'a cancellation' },
  {
    event: 'cancelled',
    actions: anyAction,
    from: [...queued, 'CANCELING'],
    to: ['CANCELED'],
    by: 'a cancellation',
  },
  // Its request waited, and it runs nothing: its previous state is restored.
  { event: 'cancelled', actions: anyAction, from: queued, to: idleStates, by: 'a cancellation' },
  // An earlier stage failed, or the cluster cannot run it: it gets back the state that it had
  // before the request.
  { event: 'skipped', actions: anyAction, from: [...queued, 'CANCELING'], to: settled, by: 'the deployment' },
  { event: 'comes next', actions: anyAction, from: settled, to: queued, by: 'a request' },
  {
    event: 'disk is full',
    actions: [],
    // With a release that runs or should run.
    from: settled.filter((state) => !idleStates.includes(state)),
    to: ['DEPLOYMENT_ERROR'],
    by: 'the disk guard',
  },
]

/** Returns the states from which the event leads to a state. */
export const statesBefore = (event: StateEvent, to: State): State[] => [
  ...new Set(transitions.filter((row) => row.event === event && row.to.includes(to)).flatMap((row) => row.from)),
]

/** Whether the event may lead from a state to another one, or leaves it unchanged. */
export const mayFollow = (from: State, event: StateEvent, to: State): boolean =>
  from === to || statesBefore(event, to).includes(from)
