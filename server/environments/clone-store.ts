import type { Sql } from '../database/index.ts'

export async function isProjectOf(sql: Sql, organizationId: string, projectId: string): Promise<boolean> {
  const rows = await sql`select from project where id = ${projectId} and organization_id = ${organizationId}`
  return rows.length === 1
}

/** From now on the environment is being made a copy of `source`; null: the copy is whole. */
export async function setCopying(sql: Sql, id: string, source: string | null): Promise<void> {
  await sql`update environment set copying = ${source} where id = ${id}`
}

/** Locks an environment that is still to become a copy; gives the id of its source, undefined when it is whole or gone. */
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
