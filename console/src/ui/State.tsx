import type { ClusterState } from '@quayside/contract/enums.ts'
import { isAtRest, isFailed, type State as StateName } from '@quayside/contract/states.ts'
import styles from './State.module.css'

/** Every state that a service, a replica or a deployment may have. */
export type AnyState =
  | StateName
  | ClusterState
  | 'RUNNING'
  | 'STARTING'
  | 'WARNING'
  | 'ERROR'
  | 'COMPLETED'
  | 'SUCCESS'
  | 'ONGOING'
  | Made
/** The states of things beside services: clusters, nodes, runs, backups and their proofs. */
type Made =
  | 'AVAILABLE'
  | 'NOT_READY'
  | 'UNDER_PRESSURE'
  | 'CORDONED'
  | 'REACHABLE'
  | 'UNREACHABLE'
  | 'REFUSED'
  | 'SUCCEEDED'
  | 'FAILED'
  | 'PROVEN'
  | 'LOST'
  | 'SKIPPED'

type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'idle'

const good = new Set<AnyState>([
  'DEPLOYED',
  'RESTARTED',
  'RUNNING',
  'COMPLETED',
  'SUCCESS',
  'REACHABLE',
  'AVAILABLE',
  'SUCCEEDED',
  'PROVEN',
])
const warn = new Set<AnyState>(['WARNING', 'UNDER_PRESSURE', 'CORDONED'])
const bad = new Set<AnyState>(['ERROR', 'NOT_READY', 'UNREACHABLE', 'REFUSED', 'FAILED', 'LOST', 'INVALID_CREDENTIALS'])
const busy = new Set<AnyState>(['STARTING', 'ONGOING', 'DRY_RUN'])

/** Pure: how a state is shown. A state that is not known is shown quietly. */
export function toneOf(state: AnyState): Tone {
  if (good.has(state)) return 'good'
  if (bad.has(state) || isFailed(state as StateName)) return 'bad'
  if (warn.has(state)) return 'warn'
  if (busy.has(state) || !isAtRest(state as StateName)) return 'busy'
  return 'idle'
}

/** Pure: a state in words, such as "deployment error". */
export const wordsOf = (state: string): string => state.toLowerCase().replaceAll('_', ' ')

/** A state as a word with a colour. The word alone says everything. */
export function State({ state }: { readonly state: AnyState }) {
  return (
    <span className={styles['state']} data-tone={toneOf(state)}>
      {wordsOf(state)}
    </span>
  )
}
