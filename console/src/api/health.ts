import { isAtRest, isFailed, type State } from '@quayside/contract/states.ts'

interface Row {
  readonly status: { readonly state: string }
}

const runningStates = new Set(['DEPLOYED', 'RESTARTED'])

/**
 * Pure: the health of services in words, such as "4 services: 3 run, 1 failed". A service that is
 * in progress or has failed may still run its previous version, so no text says that it does not.
 */
export function healthOf(services: readonly Row[]): string {
  // The states of services are those of the contract.
  const states = services.map(({ status }) => status.state as State)
  if (states.length === 0) return ''
  const isOne = states.length === 1
  const counts = [...Map.groupBy(states, wordOf)].map(([word, of]) => ({ word, count: of.length }))
  if (counts.length === 1 && counts[0]?.word === 'run')
    return isOne ? 'its service runs' : `all ${states.length} services run`
  if (isOne) return `its service: ${counts[0]?.word}`
  const words = order.flatMap((word) => counts.filter((one) => one.word === word))
  const text = words.map(({ word, count }) => `${count} ${word === 'run' && count === 1 ? 'runs' : word}`).join(', ')
  return `${states.length} services: ${text}`
}

const order = ['run', 'failed', 'in progress', 'stopped', 'not deployed'] as const

function wordOf(state: State): (typeof order)[number] {
  if (runningStates.has(state)) return 'run'
  if (isFailed(state)) return 'failed'
  if (!isAtRest(state)) return 'in progress'
  return state === 'STOPPED' ? 'stopped' : 'not deployed'
}
