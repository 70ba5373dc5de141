import type { State } from './states.ts'
import { foreignStates, initialState, type StateEvent, type Transition, transitions } from './transitions.ts'

const begin = '<!-- Written by `npm run emit` from contract/transitions.ts -->'
const end = '<!-- End of the written part -->'

const meaning: Readonly<Record<StateEvent, string>> = {
  accepted: 'a request is accepted, and no other one has the service',
  begun: 'its work begins',
  'ended well': 'it succeeds',
  'ended badly': 'it fails',
  'being cancelled': 'a running request is being cancelled',
  cancelled: 'a waiting request is cancelled, or a running one has been',
  skipped: 'a request leaves the service out: its previous state is restored',
  'comes next': 'the request of the service ends, and another one waits for it',
  'disk is full': 'the service takes far more of the disk than it may, and is stopped',
}

const code = (states: readonly State[]): string => states.map((state) => `\`${state}\``).join(' ')

const line = ({ event, actions, from, to, by }: Transition): string =>
  `| ${meaning[event]} | ${actions.join(', ') || '–'} | ${code(from)} | ${code(to)} | ${by} |`

/** Returns the table of transitions as Markdown. */
export const transitionsTable = (): string =>
  [
    begin,
    '',
    `A service begins \`${initialState}\`.`,
    '',
    '| What happens | Action | From | To | Caused by |',
    '|---|---|---|---|---|',
    ...transitions.map(line),
    '',
    `Services never enter these states, which clients of the API know: ${code(foreignStates)}.`,
    '',
    end,
  ].join('\n')

/** Returns the page with its table replaced. Throws if the page has no place for it. */
export function withTransitions(page: string): string {
  const from = page.indexOf(begin)
  const to = page.indexOf(end)
  if (from === -1 || to < from) throw new Error('docs/deployments.md has no part for the table of transitions.')
  return `${page.slice(0, from)}${transitionsTable()}${page.slice(to + end.length)}`
}
