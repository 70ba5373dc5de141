import { phases, type State } from '@quayside/contract/states.ts'
import { mayFollow, type StateEvent, statesBefore } from '@quayside/contract/transitions.ts'
import type { Fragment, Sql } from '../database/index.ts'
import type { Logger } from '../lib/log.ts'

/**
 * The only SQL that writes states of services. The table of transitions is contract/transitions.ts.
 */

/** A change of a service's state. */
export interface Change {
  /** The service's id, or a query that finds it. Without a service nothing is written. */
  readonly service: string | Fragment
  readonly event: StateEvent
  readonly to: State
  /** Finds the queued state of the next request. If there is one, the same write sets it. */
  readonly next?: Fragment
  /** Further parts of the statement, placed before it. */
  readonly beside?: Fragment
}

/**
 * Writes the state of a service. A change that the table does not list is a bug: see
 * `reportUnlisted`.
 */
export async function writeState(sql: Sql, { service, event, to, next, beside }: Change): Promise<void> {
  const rows = await sql<{ id: string; before: State; after: State }[]>`
    with ${beside ? sql`${beside},` : sql``} before as (
      select id, state from service where id = (${service})::uuid for no key update
    )
    update service s set state = ${next ? sql`coalesce((${next}), ${to})` : to} from before where s.id = before.id
    returning s.id, before.state as before, s.state as after`
  for (const { id, before, after } of rows) {
    const isListed = after === to || mayFollow(to, 'comes next', after)
    if (mayFollow(before, event, to) && isListed) continue
    const through = after === to ? '' : ` to ${after}`
    unlisted(new UnlistedTransitionError(`Service ${id} went from ${before} to ${to}${through} by "${event}".`))
  }
}

/**
 * A part of a statement that queues services for an accepted request. A query locks the services
 * and selects them with their `id` and `former_state`. A service that belongs to another request
 * keeps its state. The column itself must not be asked: PostgreSQL would compare its value from the
 * beginning of the statement, and miss a service that was left during the wait for the lock.
 */
export const enterQueue = (sql: Sql, to: State, services: Fragment): Fragment => sql`
  update service s set state = ${to} from (${services}) entering
  where s.id = entering.id and entering.former_state = any(${statesBefore('accepted', to)}::text[])`

/** A part of a statement: the queued state for a column with an action. */
export const queuedStateOf = (sql: Sql, action: Fragment): Fragment =>
  sql`${sql.json(queuedStates)}::jsonb ->> ${action}`

const queuedStates: Readonly<Record<string, State>> = Object.fromEntries(
  Object.entries(phases).map(([action, { queued }]) => [action, queued]),
)

/** Reports a written state that the table does not allow. */
export class UnlistedTransitionError extends Error {
  override readonly name = 'UnlistedTransitionError'
}

/** The handler of tests: they fail, because the transaction is rolled back. */
let unlisted = (error: UnlistedTransitionError): void => {
  throw error
}

/** The log message for such a state. */
export const unlistedMessage = 'the state of a service changed in a way that the table of transitions does not allow'

/**
 * Makes a production server log such states instead of throwing. The state is still written: it
 * must match reality, and a gap in the table must not lose a deployment.
 */
export function reportUnlisted(log: Pick<Logger, 'error'>): void {
  unlisted = (err) => log.error({ err }, unlistedMessage)
}
