import type { Sql } from '../database/index.ts'

/** A version of the state of a stack. */
export interface StackStateRow {
  readonly id: string
  readonly service_id: string
  readonly number: number
  readonly run_id: string
  readonly created_at: Date
  readonly serial: number
  readonly lineage: string
  readonly bytes: number
  readonly sealed_state: string
  /** The number of the version that this one restored. */
  readonly restored_from: number | null
}

const columns = (sql: Sql) => sql`
  id, service_id, number, run_id, created_at, serial::float8 as serial, lineage, bytes, sealed_state, restored_from`

/** Returns the newest version of the state of a stack. */
export async function findState(sql: Sql, serviceId: string): Promise<StackStateRow | undefined> {
  const [row] = await sql<StackStateRow[]>`
    select ${columns(sql)} from stack_state where service_id = ${serviceId} order by number desc limit 1`
  return row
}

export async function findStateById(sql: Sql, serviceId: string, id: string): Promise<StackStateRow | undefined> {
  const [row] = await sql<StackStateRow[]>`
    select ${columns(sql)} from stack_state where service_id = ${serviceId} and id = ${id}`
  return row
}

/** Lists the versions of the state of a stack without their contents, newest first. */
export const listStates = (sql: Sql, serviceId: string) =>
  sql<(Omit<StackStateRow, 'service_id' | 'run_id' | 'sealed_state'> & { readonly execution_id: string | null })[]>`
    select s.id, s.number, s.created_at, s.serial::float8 as serial, s.lineage, s.bytes, s.restored_from, q.execution_id
    from stack_state s left join stack_run r on r.id = s.run_id left join deployment_request q on q.id = r.request_id
    where s.service_id = ${serviceId} order by s.number desc`

/** Number of kept versions of the state of a stack. */
const keptStates = 50
/** Bytes of all of them. The newest two are kept whatever their size is. */
const keptBytes = 64 * 2 ** 20

/** Returns the serial of the state that a run has written, if it is the newest one. */
export async function keptSerial(sql: Sql, serviceId: string, runId: string): Promise<number | undefined> {
  const row = await findState(sql, serviceId)
  return row?.run_id === runId ? row.serial : undefined
}

/**
 * Writes the newest version, or a newer state of it. Deletes the oldest ones that are too many or
 * too large.
 */
export async function insertState(sql: Sql, row: StackStateRow): Promise<void> {
  const { created_at, serial, lineage, bytes, sealed_state } = row
  await sql`
    insert into stack_state ${sql({ ...row })}
    on conflict (id) do update set ${sql({ created_at, serial, lineage, bytes, sealed_state })}`
  await sql`
    delete from stack_state where id in (
      select id from (
        select id, row_number() over newest as place, sum(bytes) over newest as total
        from stack_state where service_id = ${row.service_id} window newest as (order by number desc)) versions
      where place > ${keptStates} or (place > 2 and total > ${keptBytes}))`
}
