import { isAtRest, isFailed, type State } from '@quayside/contract/states.ts'

interface Row {
  readonly status: { readonly state: string }
}

const runningStates = new Set(['DEPLOYED', 'RESTARTED'])

/** Pure: the health of services in words, such as "3 of 4 services run, 1 failed". */
export function healthOf(services: readonly Row[]): string {
  // The states of services are those of the contract.
  const states = services.map(({ status }) => status.state as State)
  if (states.length === 0) return ''
  const count = (matches: (state: State) => boolean): number => states.filter(matches).length
  const good = count((state) => runningStates.has(state))
  const all = states.length
  const others = [
    ['failed', count(isFailed)],
    ['in progress', count((state) => !isAtRest(state))],
    ['stopped', count((state) => state === 'STOPPED')],
  ] as const
  const words = others.flatMap(([word, number]) => (number > 0 ? [`${number} ${word}`] : []))
  return [runningWords(good, all), ...words].join(', ')
}

function runningWords(good: number, all: number): string {
  if (all === 1) return good === 1 ? 'its service runs' : 'its service does not run'
  return `${good === all ? 'all' : `${good} of`} ${all} services run`
}
