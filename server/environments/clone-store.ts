import type { Fragment, Sql } from '../database/index.ts'

export async function isProjectOf(sql: Sql, organizationId: string, projectId: string): Promise<boolean> {
  const rows = await sql`select from project where id = ${projectId} and organization_id = ${organizationId}`
  return rows.length === 1
}

/** From now on the environment is being made a copy of `source`; null: the copy is whole. */
export async function setCopying(sql: Sql, id: string, source: string | null): Promise<void> {
  await sql`update environment set copying = ${source} where id = ${id}`
}

/**
 * Locks an environment that is still to become a copy; gives the id of its source, undefined when
 * it is whole or gone.
 */
export async function lockCopy(sql: Sql, id: string): Promise<string | undefined> {
  const [row] = await sql<
    { copying: string | null }[]
  >`select copying from environment where id = ${id} for no key update`
  return row?.copying ?? undefined
}

/** Keeps the environment from being deleted or deployed while it is read; false when it is gone. */
export async function holdSource(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`select from environment where id = ${id} for share`
  return rows.length === 1
}

/** Gives copies of services the flag of their originals. */
export async function skipCopies(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql`update service set is_skipped = true where id = any(${[...ids]}::uuid[])`
}

/** Removes an environment that did not become a copy. */
export async function deleteCopy(sql: Sql, id: string): Promise<void> {
  await sql`delete from environment where id = ${id} and copying is not null`
}

/**
 * Whether something of the copy is there already: the stages and services of an environment are
 * written together.
 */
export async function hasContent(sql: Sql, id: string): Promise<boolean> {
  const [row] = await sql<{ has: boolean }[]>`
    select exists (select from deployment_stage where environment_id = ${id})
      or exists (select from service where environment_id = ${id}) as has`
  return row?.has ?? false
}

export async function isCopying(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`select from environment where id = ${id} and copying is not null`
  return rows.length === 1
}

/** Copies that are not whole: their workflows have the same ids. */
export const unfinishedCopies = (sql: Sql): Fragment => sql`select id from environment where copying is not null`
export const unfinishedServiceCopies = (sql: Sql): Fragment => sql`select id from service where copying is not null`

/** The copy is whole, and so is all that is in it; false when it was deleted. */
export async function endCopy(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`update environment set copying = null where id = ${id} returning id`
  await sql`update service set copying = null where environment_id = ${id} and copying is not null`
  return rows.length === 1
}

export async function isServiceCopying(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`select from service where id = ${id} and copying is not null`
  return rows.length === 1
}

/** From now on the data of `source` are being copied into the service. */
export async function setServiceCopying(sql: Sql, id: string, source: string): Promise<void> {
  await sql`update service set copying = ${source} where id = ${id}`
}

/** The copy is whole; false when it was deleted. */
export async function endServiceCopy(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`update service set copying = null where id = ${id} returning id`
  return rows.length === 1
}

export async function deleteServiceCopy(sql: Sql, id: string): Promise<void> {
  await sql`delete from service where id = ${id} and copying is not null`
}

/**
 * Whether a service of the environment is still without its data, or is being set back to others.
 */
export async function hasUnfinishedCopy(sql: Sql, environmentId: string): Promise<boolean> {
  const rows = await sql`
    select from service where environment_id = ${environmentId}
      and (copying is not null or restoring is not null) limit 1`
  return rows.length === 1
}
