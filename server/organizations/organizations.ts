import type { Plan } from '@quayside/contract/enums.ts'
import { type Database, inTransaction, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import { checkName, checkNoScript } from '../lib/text.ts'
import { nameTaken } from './name-taken.ts'
import {
  deleteOrganization,
  findOrganizations,
  insertOrganization,
  isOperator,
  type OrganizationChange,
  type OrganizationRow,
  updateOrganization,
} from './organization-store.ts'

const changeable = ['description', 'website_url', 'repository', 'logo_url', 'icon_url', 'admin_emails'] as const
const addresses = ['website_url', 'repository', 'logo_url', 'icon_url'] as const
const mail = /^[^\s@<>,;"]{1,64}@[^\s@<>,;"]{1,255}$/

export interface OrganizationsOptions {
  readonly database: Database
  readonly clock: Clock
  /**
   * Give a new organization what each one has from the start, one after the other, in the same
   * transaction.
   */
  readonly endowments: readonly Endowment[]
  /** Who may create organizations. Everybody if undefined. */
  readonly founders?: 'everyone' | 'operator'
  /** Gives it its owner. */
  readonly addOwner: (sql: Sql, organizationId: string, ownerId: string, now: Date) => Promise<void>
}

/** Gives a new organization something that each one has from the start. */
export type Endowment = (sql: Sql, organizationId: string, now: Date) => Promise<void>

/** The creator of an organization. */
export interface Founder {
  readonly kind: 'token' | 'account'
  readonly id: string
}

export function createOrganizations({ database, clock, endowments, addOwner, founders }: OrganizationsOptions) {
  return {
    /** An organization belongs to a person. Throws 403 for API tokens. */
    async create(founder: Founder, body: OrganizationChange & { readonly name: string; readonly plan?: Plan }) {
      const { name, ...rest } = checked(body)
      if (founder.kind === 'token') {
        throw new AppError('forbidden', 'An API token cannot own an organization. Sign in as a person.')
      }
      const id = newId()
      const row = await inTransaction(database, async (sql) => {
        const now = clock.now()
        if (founders === 'operator' && !(await isOperator(sql, founder.id))) {
          throw new AppError('forbidden', 'Only administrators of the first organization create organizations here.')
        }
        await insertOrganization(sql, { id, name: name ?? body.name, plan: body.plan, now })
        for (const endow of endowments) await endow(sql, id, now)
        await addOwner(sql, id, founder.id, now)
        return updateOrganization(sql, id, rest, now)
      }).catch(nameTaken('An organization', name))
      if (!row) throw new Error('the new organization does not exist')
      return organizationRecord(row)
    },

    async remove(organization: OrganizationRow): Promise<void> {
      if (!(await inTransaction(database, (sql) => deleteOrganization(sql, organization.id)))) {
        throw new AppError('conflict', `Organization "${organization.name}" still has projects; delete them first.`)
      }
    },

    async list(ids: readonly string[]) {
      return (await findOrganizations(database, ids)).map(organizationRecord)
    },

    async edit(organization: OrganizationRow, body: OrganizationChange) {
      const change = checked(body)
      const row = await inTransaction(database, (sql) =>
        updateOrganization(sql, organization.id, change, clock.now()),
      ).catch(nameTaken('An organization', body.name))
      return organizationRecord(row ?? organization)
    },
  }
}

function checked(body: OrganizationChange): OrganizationChange {
  for (const field of addresses) if (body[field]) checkNoScript(field, body[field])
  for (const [index, address] of (body.admin_emails ?? []).entries()) {
    if (!mail.test(address)) throw new AppError('invalid', `admin_emails[${index}] is not an email address.`)
  }
  const { name, ...others } = body
  const rest = Object.fromEntries(changeable.map((field) => [field, others[field]]))
  const given = Object.entries(rest).filter(([, value]) => value !== undefined)
  return { ...Object.fromEntries(given), ...(name === undefined ? {} : { name: checkName('name', name) }) }
}

/** The row as the API returns it. */
export const organizationRecord = (row: OrganizationRow) => ({
  ...row,
  organization_plan: { plan: row.plan, audit_logs_retention_in_days: row.audit_logs_retention_in_days },
})
