import type { Fragment, Sql } from '../database/index.ts'

export async function isProjectOf(sql: Sql, organizationId: string, projectId: string): Promise<boolean> {
  const rows = await sql`select from project where id = ${projectId} and organization_id = ${organizationId}`
  return rows.length === 1
}

/** Marks the environment as an unfinished copy of `source`, or as finished when it is null. */
export async function setCopying(sql: Sql, id: string, source: string | null): Promise<void> {
  await sql`update environment set copying = ${source} where id = ${id}`
}

/** Locks an environment and returns the id of its source. Undefined when it is complete or gone. */
export async function lockCopy(sql: Sql, id: string): Promise<string | undefined> {
  const [row] = await sql<
    { copying: string | null }[]
  >`select copying from environment where id = ${id} for no key update`
  return row?.copying ?? undefined
}

/** Prevents deletion and deployment of the environment while it is read. False when it is gone. */
export async function holdSource(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`select from environment where id = ${id} for share`
  return rows.length === 1
}

/** Marks copies of services as skipped, like their originals. */
export async function skipCopies(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql`update service set is_skipped = true where id = any(${[...ids]}::uuid[])`
}

/** Deletes an environment whose copy is unfinished. */
export async function deleteCopy(sql: Sql, id: string): Promise<void> {
  await sql`delete from environment where id = ${id} and copying is not null`
}

/** Whether the copy has stages or services. One transaction writes both. */
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

/** Selects unfinished copies. Their workflows have the same ids. */
export const unfinishedCopies = (sql: Sql): Fragment => sql`select id from environment where copying is not null`
export const unfinishedServiceCopies = (sql: Sql): Fragment => sql`select id from service where copying is not null`

/** Marks the copy and all its services as complete. False when the copy was deleted. */
export async function endCopy(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`update environment set copying = null where id = ${id} returning id`
  await sql`update service set copying = null where environment_id = ${id} and copying is not null`
  return rows.length === 1
}

export async function isServiceCopying(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`select from service where id = ${id} and copying is not null`
  return rows.length === 1
}

/** Marks the service as an unfinished copy of `source`. */
export async function setServiceCopying(sql: Sql, id: string, source: string): Promise<void> {
  await sql`update service set copying = ${source} where id = ${id}`
}

/** Marks the copy as complete. False when it was deleted. */
export async function endServiceCopy(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`update service set copying = null where id = ${id} returning id`
  return rows.length === 1
}

export async function deleteServiceCopy(sql: Sql, id: string): Promise<void> {
  await sql`delete from service where id = ${id} and copying is not null`
}

/** Whether a service of the environment still waits for copied or restored data. */
export async function hasUnfinishedCopy(sql: Sql, environmentId: string): Promise<boolean> {
  const rows = await sql`
    select from service where environment_id = ${environmentId}
      and (copying is not null or restoring is not null) limit 1`
  return rows.length === 1
}
