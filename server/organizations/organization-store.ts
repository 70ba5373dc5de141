import type { Plan } from '@quayside/contract/enums.ts'
import type { Sql } from '../database/index.ts'

export interface OrganizationRow {
  readonly id: string
  readonly organization_id: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly name: string
  readonly description: string | null
  readonly website_url: string | null
  readonly repository: string | null
  readonly logo_url: string | null
  readonly icon_url: string | null
  readonly admin_emails: string[] | null
  readonly owner: string | null
  readonly plan: Plan
  readonly audit_logs_retention_in_days: number
  readonly billing_deployment_restriction: string | null
}

export type OrganizationChange = Partial<
  Pick<
    OrganizationRow,
    'name' | 'description' | 'website_url' | 'repository' | 'logo_url' | 'icon_url' | 'admin_emails'
  >
>

/** Selects the organization as the target of a request. */
export const organizationTarget = (sql: Sql, id: string) =>
  sql`select *, id as organization_id from organization where id = ${id}`

export const findOrganizations = (sql: Sql, ids: readonly string[]) =>
  sql<OrganizationRow[]>`
    select *, id as organization_id from organization where id = any(${[...ids]}::uuid[]) order by created_at, id`

/**
 * Whether the account is an administrator of the oldest organization, which the first start
 * creates.
 */
export async function isOperator(sql: Sql, accountId: string): Promise<boolean> {
  const rows = await sql`
    select from member where account_id = ${accountId} and (role in ('OWNER', 'ADMIN') or 'ADMIN' = any(permissions))
      and organization_id = (select id from organization order by created_at, id limit 1)`
  return rows.length > 0
}

export async function updateOrganization(
  sql: Sql,
  id: string,
  change: OrganizationChange,
  now: Date,
): Promise<OrganizationRow | undefined> {
  const values = { ...change, updated_at: now }
  const [row] = await sql<OrganizationRow[]>`
    update organization set ${sql(values)}, version = version + 1 where id = ${id} returning *, id as organization_id`
  return row
}

/** Inserts an organization. Without a plan it gets the column's default. */
export async function insertOrganization(
  sql: Sql,
  { id, name, plan, now }: { id: string; name: string; plan?: Plan | undefined; now: Date },
): Promise<void> {
  await sql`insert into organization ${sql({ id, name, created_at: now, updated_at: now, ...(plan && { plan }) })}`
}

/** Returns false while it has projects. */
export async function deleteOrganization(sql: Sql, id: string): Promise<boolean> {
  await sql`select id from organization where id = ${id} for no key update`
  const deleted = await sql`
    delete from organization o where o.id = ${id} and not exists (select from project p where p.organization_id = o.id)`
  return deleted.count === 1
}
