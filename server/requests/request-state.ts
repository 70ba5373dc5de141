import { environmentState, isFailed, phases, type State } from '@quayside/contract/states.ts'
import type { RequestProgress } from './progress-store.ts'
import type { RequestRow } from './request-store.ts'

/** Pure: returns the state that a request brings its environment to. */
export function requestState(
  { action, status }: Pick<RequestRow, 'action' | 'status'>,
  targets: RequestProgress['targets'],
): State {
  const { queued, working, done, failed } = phases[action]
  const states = targets.map(({ state }) => state)
  switch (status) {
    case 'QUEUED':
      return queued
    case 'SUCCESS':
      return done
    case 'CANCELED':
    case 'CANCELING':
      return status
    case 'ERROR':
      return states.find(isFailed) ?? failed
    case 'ONGOING': {
      const left = targets.filter((target) => target.finished_at === null)
      return left.length > 0 ? environmentState(left.map(({ state }) => state)) : working
    }
  }
}
