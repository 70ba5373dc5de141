import { isAtRest, isFailed, type State as StateName } from '@quayside/contract/states.ts'
import styles from './State.module.css'

/** Every state that a service, a replica or a deployment may have. */
export type AnyState = StateName | 'RUNNING' | 'STARTING' | 'WARNING' | 'ERROR' | 'COMPLETED' | 'SUCCESS' | 'ONGOING'

type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'idle'

const good = new Set<AnyState>(['DEPLOYED', 'RESTARTED', 'RUNNING', 'COMPLETED', 'SUCCESS'])

/** Pure: how a state is shown. A state that is not known is shown quietly. */
export function toneOf(state: AnyState): Tone {
  if (good.has(state)) return 'good'
  if (state === 'ERROR' || isFailed(state as StateName)) return 'bad'
  if (state === 'WARNING') return 'warn'
  if (state === 'STARTING' || state === 'ONGOING' || !isAtRest(state as StateName)) return 'busy'
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
