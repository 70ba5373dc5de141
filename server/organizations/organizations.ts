import { type Database, inTransaction } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { checkName, checkWebAddress } from '../lib/text.ts'
import { nameTaken } from './name-taken.ts'
import {
  findOrganizations,
  type OrganizationChange,
  type OrganizationRow,
  updateOrganization,
} from './organization-store.ts'

const addresses = ['website_url', 'repository', 'logo_url', 'icon_url'] as const
const mail = /^[^\s@<>,;"]{1,64}@[^\s@<>,;"]{1,255}$/

export function createOrganizations({ database, clock }: { database: Database; clock: Clock }) {
  return {
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
  for (const field of addresses) if (body[field]) checkWebAddress(field, body[field])
  for (const [index, address] of (body.admin_emails ?? []).entries()) {
    if (!mail.test(address)) throw new AppError('invalid', `admin_emails[${index}] is not an e-mail address.`)
  }
  const { name, ...rest } = body
  const given = Object.entries(rest).filter(([, value]) => value !== undefined)
  return { ...Object.fromEntries(given), ...(name === undefined ? {} : { name: checkName('name', name) }) }
}

/** The row as the API answers it. */
export const organizationRecord = (row: OrganizationRow) => ({
  ...row,
  organization_plan: { plan: row.plan, audit_logs_retention_in_days: row.audit_logs_retention_in_days },
})
