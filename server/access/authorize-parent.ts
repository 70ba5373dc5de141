import type { Access } from '@quayside/contract/operation.ts'
import type { Sql } from '../database/index.ts'
import { type Authorized, notFound } from './authorize.ts'
import type { TargetQuery } from './authorize-store.ts'
import { type Place, requireOn } from './caller.ts'

/**
 * Finds the object that a query or a body names as the place of a request, as the target of a path is found: inside the
 * caller's organizations (404), and where the caller has the access (403). `place` says from its row where that is: what a role says
 * of a project, or of the mode of an environment, counts there.
 */
export async function authorizeParent<Row extends { readonly organization_id: string }>(
  sql: Sql,
  { memberships }: Pick<Authorized, 'memberships'>,
  wish: {
    readonly access: Access
    readonly query: TargetQuery
    readonly id: string
    readonly place: (row: Row) => Place
    /** For the refusal: `that project`. */
    readonly what: string
  },
): Promise<Row> {
  // Whoever gives the query knows the columns of its row.
  const [row] = (await wish.query(sql, wish.id)) as unknown as readonly Row[]
  const membership = memberships.find(({ organizationId }) => organizationId === row?.organization_id)
  if (!row || !membership) throw notFound()
  requireOn(membership, wish.access, wish.place(row), wish.what)
  return row
}
