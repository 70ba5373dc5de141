import type { Fragment, Sql } from '../database/index.ts'
import type { Json } from '../lib/json.ts'

/** What proves who writes: every write of a run names both. */
export interface Holding {
  readonly id: string
  readonly fence: string
}

export interface Claimed extends Holding {
  readonly kind: string
  readonly key: string
  readonly input: Json
  /** This claim included. */
  readonly attempts: number
  readonly cancel_requested: boolean
}

export type EndState = 'done' | 'failed' | 'canceled' | 'parked'

export const channel = 'workflow'

/** The organization whose work it is, by its own id or by that of something it has; `platform` if no organization can cause it. */
export type CountsFor =
  | { readonly organizationId: string }
  | { readonly environmentId: string }
  | { readonly serviceId: string }
  | 'platform'

interface NewRow {
  readonly id: string
  readonly kind: string
  readonly key: string
  readonly input: Json
  readonly countsFor: CountsFor
}

/** The value of the column `organization_id`. */
function organizationOf(sql: Sql, of: CountsFor): Fragment {
  if (of === 'platform') return sql`null::uuid`
  if ('organizationId' in of) return sql`${of.organizationId}::uuid`
  const environment =
    'environmentId' in of
      ? sql`${of.environmentId}::uuid`
      : sql`(select environment_id from service where id = ${of.serviceId}::uuid)`
  return sql`(
      select p.organization_id from environment e join project p on p.id = e.project_id where e.id = ${environment})`
}

/** Inserts the workflow for the one row of `from`, the rest of a `select`; its id must be a new one. */
export const submission = (sql: Sql, row: NewRow, from: Fragment): Fragment => sql`
    insert into workflow (id, kind, key, input, organization_id)
    select ${row.id}::uuid, ${row.kind}, ${row.key}, ${JSON.stringify(row.input)}::text::jsonb,
      ${organizationOf(sql, row.countsFor)} from ${from}`

/** False when the id was there before. */
export async function insert(sql: Sql, row: NewRow): Promise<boolean> {
  const inserted = await sql`${submission(sql, row, sql`(values (1)) once`)} on conflict (id) do nothing`
  return inserted.count === 1
}

/** How many of its places an engine leaves to whom. */
export interface Places {
  /** Places that are free in this process. */
  readonly limit: number
  /** Workflows that one organization may have running. */
  readonly perOrganization: number
  /** Places that only the platform and organizations without a running workflow may take. */
  readonly reserve: number
  /** Places of the reserve that only the platform may take. */
  readonly platformReserve: number
}

/** Decides the shares of an engine: half for one organization, a fifth for those that run nothing, a fiftieth for the platform. */
export const shareOut = (maxRunning: number): Omit<Places, 'limit'> => ({
  perOrganization: Math.max(1, Math.ceil(maxRunning / 2)),
  reserve: Math.floor(maxRunning / 5),
  platformReserve: Math.min(Math.floor(maxRunning / 5), Math.ceil(maxRunning / 50)),
})

interface Taking extends Places {
  readonly owner: string
  readonly kinds: readonly string[]
  readonly leaseSeconds: number
  readonly holding: readonly string[]
  /** Queries for the ids of waiting workflows that must not begin yet. */
  readonly heldBack?: readonly Fragment[]
}

/**
 * Takes up to `limit` workflows: those whose lease ran out, those that an earlier claim of this owner took without its
 * answer arriving, and the first waiting one of every key that nothing runs for. Only database time is compared.
 * `rank` is the number of workflows that the organization would have running: organizations take turns by it, and the
 * platform comes first. Rows are locked one by one by their id, as many as are taken: the planner, whose idea of the
 * queue's length is mostly outdated, has no choice in that.
 */
export async function claim(sql: Sql, options: Taking): Promise<Claimed[]> {
  const { owner, leaseSeconds, limit, perOrganization, heldBack = [] } = options
  const [kinds, holding] = [[...options.kinds], [...options.holding]]
  const [forFirst, forFurther] = [limit - options.platformReserve, limit - options.reserve]
  return sql<Claimed[]>`
    with running as materialized (
      select key, organization_id from workflow where state = 'running'
    ), held as (
      select organization_id, count(*) as count from running group by organization_id
    ), head as (
      select distinct on (key) id, key, seq, kind, organization_id from workflow where state = 'queued' order by key, seq
    ), ranked as (
      select head.id, head.seq, case when head.organization_id is null then 0 else coalesce(held.count, 0)
        + row_number() over (partition by head.organization_id order by head.seq) end as rank
      from head left join held on held.organization_id = head.organization_id
      where kind = any(${kinds}) and key not in (select key from running)
        ${heldBack.reduce((all, ids) => sql`${all} and head.id <> all (array(${ids}))`, sql``)}
    ), placed as (
      select id, rank, row_number() over (order by rank, seq) as place from ranked where rank <= ${perOrganization}
    ), waiting as (
      select taken.id from (
        select id from placed
        where rank = 0 or place <= ${forFurther} or (rank = 1 and place <= ${forFirst})
        order by place
      ) as free cross join lateral (
        select id, state from workflow where id = free.id offset 0 for update skip locked
      ) as taken
      where taken.state = 'queued' limit ${limit}
    ), expired as (
      select id from workflow
      where state = 'running' and (lease_until <= now() or owner = ${owner})
        and kind = any(${kinds}) and not id = any(${holding}::uuid[])
      limit ${limit} for update skip locked
    ), picked as (
      select id from expired union all select id from waiting limit ${limit}
    )
    update workflow w
    set state = 'running', owner = ${owner}, fence = w.fence + 1, attempts = w.attempts + 1,
      lease_until = now() + make_interval(secs => ${leaseSeconds})
    from picked where w.id = picked.id
    returning w.id, w.fence::text as fence, w.kind, w.key, w.input, w.attempts, w.cancel_requested`
}

/**
 * Renews those that are still held and not locked by somebody at this moment. A locked row is left out rather than
 * waited for: one long transaction must not cost all the others their leases.
 */
export async function renew(
  sql: Sql,
  held: readonly Holding[],
  leaseSeconds: number,
): Promise<{ id: string; cancel_requested: boolean }[]> {
  return sql<{ id: string; cancel_requested: boolean }[]>`
    with mine as (
      select w.id from workflow w
      join unnest(${held.map(({ id }) => id)}::uuid[], ${held.map(({ fence }) => fence)}::bigint[]) as held (id, fence)
        on w.id = held.id and w.fence = held.fence
      where w.state = 'running' for no key update of w skip locked
    )
    update workflow w set lease_until = now() + make_interval(secs => ${leaseSeconds})
    from mine where w.id = mine.id
    returning w.id, w.cancel_requested`
}

/** Everything that is running, over all processes. */
export async function readRunning(
  sql: Sql,
): Promise<{ id: string; fence: string; owner: string | null; cancel_requested: boolean }[]> {
  return sql<{ id: string; fence: string; owner: string | null; cancel_requested: boolean }[]>`
    select id, fence::text as fence, owner, cancel_requested from workflow where state = 'running'`
}

/** Ends the leases of owners that are known to be dead. */
export async function releaseOwners(sql: Sql, owners: readonly string[]): Promise<number> {
  const released = await sql`
    update workflow set owner = null, lease_until = now() where state = 'running' and owner = any(${[...owners]})`
  return released.count
}

/** Hands a running workflow back, to be claimed again after so many seconds. From now on its holder can write nothing. */
export async function release(
  sql: Sql,
  held: Holding,
  options: { afterSeconds: number; countsAsAttempt: boolean },
): Promise<void> {
  await sql`
    update workflow set owner = null, fence = fence + 1,
      lease_until = now() + make_interval(secs => ${options.afterSeconds}),
      attempts = greatest(0, attempts - ${options.countsAsAttempt ? 0 : 1})
    where id = ${held.id} and fence = ${held.fence} and state = 'running'`
}

/** False when the workflow is no longer held. */
export async function end(sql: Sql, held: Holding, state: EndState, error: string | null): Promise<boolean> {
  const ended = await sql`
    update workflow set state = ${state}, error = ${error}, finished_at = now(), owner = null, lease_until = null
    where id = ${held.id} and fence = ${held.fence} and state = 'running'`
  return ended.count === 1
}

/**
 * Locks the workflow against being taken over until the transaction ends; false when it is no longer held. Renewals are
 * not kept waiting. A holder that is stopped in the middle loses its session, and with it the lock, after `idleMs`.
 */
export async function lock(sql: Sql, held: Holding, idleMs: number): Promise<boolean> {
  const locked = await sql`
    select set_config('idle_in_transaction_session_timeout', ${String(idleMs)}, true)
    from workflow where id = ${held.id} and fence = ${held.fence} and state = 'running' for key share`
  return locked.length === 1
}

/** Marks for cancelling; the state that this leaves behind, or undefined where there is nothing to cancel any more. */
export async function cancel(sql: Sql, id: string): Promise<'canceled' | 'running' | undefined> {
  const [row] = await sql<{ state: 'canceled' | 'running' }[]>`
    update workflow set cancel_requested = true,
      state = case state when 'queued' then 'canceled' else state end,
      error = case state when 'queued' then 'canceled' else error end,
      finished_at = case state when 'queued' then now() else finished_at end
    where id = ${id} and state in ('queued', 'running')
    returning state`
  if (row?.state === 'running') await sql`select pg_notify(${channel}, ${`cancel ${id}`})`
  return row?.state
}

/** The ids of those `unfinished` ones of a kind whose workflow has ended. Few are unfinished, and those are looked up one by one. */
export async function listUnfinished(sql: Sql, kind: string, unfinished: Fragment): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select ended.id from (${unfinished}) as unfinished (id) cross join lateral (
      select id from workflow where id = unfinished.id and kind = ${kind} and state not in ('queued', 'running') offset 0
    ) as ended`
  return rows.map(({ id }) => id)
}

/** Undefined where it is finished by now, or another process is about to. */
export async function lockUnfinished(
  sql: Sql,
  id: string,
  unfinished: Fragment,
): Promise<{ input: Json; error: string | null } | undefined> {
  const [row] = await sql<{ input: Json; error: string | null }[]>`
    select input, error from workflow where id = ${id} for update skip locked`
  // Looked at under the lock: another process may have finished it while this one began.
  const left = row && (await sql`select from (${unfinished}) as unfinished (id) where id = ${id}`)
  return left?.length === 1 ? row : undefined
}
