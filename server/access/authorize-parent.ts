import type { Access } from '@quayside/contract/operation.ts'
import type { Sql } from '../database/index.ts'
import { notFound } from '../lib/error.ts'
import type { Authorized } from './authorize.ts'
import type { TargetQuery } from './authorize-store.ts'
import { type Place, requireOn } from './caller.ts'

/**
 * Finds the object that a query or a body names as the place of a request, like the target of a
 * path: inside the caller's organizations (404), and with the required access (403). `place`
 * returns the location from its row, for roles that differ by project or by mode.
 */
export async function authorizeParent<Row extends { readonly organization_id: string }>(
  sql: Sql,
  { memberships }: Pick<Authorized, 'memberships'>,
  wish: {
    readonly access: Access
    readonly query: TargetQuery
    readonly id: string
    readonly place: (row: Row) => Place
    /** The object for messages: `project`. */
    readonly noun: string
    /** The place in the message of a missing right, if it is not the object. */
    readonly at?: string
  },
): Promise<Row> {
  // The author of the query knows the columns of its row.
  const [row] = (await wish.query(sql, wish.id)) as unknown as readonly Row[]
  const membership = memberships.find(({ organizationId }) => organizationId === row?.organization_id)
  if (!row || !membership) throw notFound(wish.noun, wish.id)
  requireOn(membership, wish.access, wish.place(row), `that ${wish.at ?? wish.noun}`)
  return row
}
