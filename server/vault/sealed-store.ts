import type { Fragment, Sql } from '../database/index.ts'
import type { SealedColumn } from '../lib/seal.ts'

/** The keys whose texts are requested. */
export type SealedBy = { readonly keys: readonly string[] } | { readonly otherThan: string }

/** One sealed text with the key of its row. */
export interface SealedText {
  readonly row: readonly string[]
  readonly sealed: string
}

export interface Part {
  readonly limit: number
  /** Start after this row. */
  readonly after?: readonly string[] | undefined
  /** Skip rows that another transaction is changing instead of waiting for them. */
  readonly passBusy?: boolean
}

/** Lists texts of a column in the order of their rows and locks them until the transaction ends. */
export async function lockSealed(
  sql: Sql,
  of: SealedColumn,
  by: SealedBy,
  { limit, after, passBusy }: Part,
): Promise<SealedText[]> {
  const key = sql(of.key)
  const behind = after === undefined ? sql`` : sql`and (${key}) > (${joined(sql, after, sql`, `)})`
  const rows = await sql<Record<string, string>[]>`
    select ${key}, ${sql(of.column)} as sealed from ${sql(of.table)} where ${isBy(sql, of, by)} ${behind}
    order by ${key} limit ${limit} for no key update ${passBusy ? sql`skip locked` : sql``}`
  return rows.map(({ sealed = '', ...row }) => ({ row: of.key.map((name) => row[name] ?? ''), sealed }))
}

export async function replaceSealed(sql: Sql, of: SealedColumn, row: readonly string[], sealed: string): Promise<void> {
  const isRow = row.map((value, index) => sql`${sql(of.key[index] ?? '')} = ${value}`)
  await sql`update ${sql(of.table)} set ${sql(of.column)} = ${sealed} where ${joined(sql, isRow, sql` and `)}`
}

/** Counts the texts of these columns that the keys have sealed. */
export async function countSealed(sql: Sql, columns: readonly SealedColumn[], by: SealedBy): Promise<number> {
  const counts = columns.map((of) => sql`(select count(*) from ${sql(of.table)} where ${isBy(sql, of, by)})`)
  const [row] = await sql<{ count: number }[]>`select (${joined(sql, counts, sql` + `)})::bigint as count`
  return row?.count ?? 0
}

/** A sealed text names its key after the first dot. */
function isBy(sql: Sql, { column }: SealedColumn, by: SealedBy): Fragment {
  const key = sql`split_part(${sql(column)}, '.', 2)`
  return 'keys' in by ? sql`${key} = any(${[...by.keys]}::text[])` : sql`${key} <> ${by.otherThan}`
}

const joined = (sql: Sql, parts: readonly (string | Fragment)[], between: Fragment): Fragment =>
  parts.map((part) => sql`${part}`).reduce((all, part) => sql`${all}${between}${part}`)
