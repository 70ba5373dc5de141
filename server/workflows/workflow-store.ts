import type { Fragment, Sql } from '../database/index.ts'
import type { Json } from '../lib/json.ts'

/** Identifies the writer. Every write of a run names both. */
export interface Holding {
  readonly id: string
  readonly fence: string
}

export interface Claimed extends Holding {
  readonly kind: string
  readonly key: string
  readonly input: Json
  /** Including this claim. */
  readonly attempts: number
  readonly cancel_requested: boolean
  readonly organization_id: string | null
  /** It only waited when it was last run, and had left its place. */
  readonly is_resting: boolean
}

export type EndState = 'done' | 'failed' | 'canceled' | 'parked'

export const channel = 'workflow'

/**
 * The organization that owns the work, by its own id or by that of one of its objects; `platform`
 * if no organization can cause it.
 */
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

/** Inserts the workflow if `from`, the rest of a `select`, has a row. Its id must be new. */
export const submission = (sql: Sql, row: NewRow, from: Fragment): Fragment => sql`
    insert into workflow (id, kind, key, input, organization_id)
    select ${row.id}::uuid, ${row.kind}, ${row.key}, ${JSON.stringify(row.input)}::text::jsonb,
      ${organizationOf(sql, row.countsFor)} from ${from}`

/** Returns false if the id already exists. */
export async function insert(sql: Sql, row: NewRow): Promise<boolean> {
  const inserted = await sql`${submission(sql, row, sql`(values (1)) once`)} on conflict (id) do nothing`
  return inserted.count === 1
}

/** How an engine shares out its places. */
export interface Places {
  /** Free places in this process. */
  readonly limit: number
  /** Maximum number of places of one organization. */
  readonly perOrganization: number
  /** Maximum number of running workflows of one organization, with those that left their place. */
  readonly inAll: number
  /** Places reserved for the platform and for organizations without a running workflow. */
  readonly reserve: number
  /** Places of the reserve that only the platform may use. */
  readonly platformReserve: number
}

/**
 * Decides the shares of an engine: half for one organization, a fifth for those without a place, a
 * fiftieth for the platform. Workflows that rest need memory, so their number has a limit too.
 */
export const shareOut = (maxRunning: number): Omit<Places, 'limit'> => ({
  perOrganization: Math.max(1, Math.ceil(maxRunning / 2)),
  inAll: 2 * maxRunning,
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
 * Claims up to `limit` workflows: expired ones, those of an earlier claim of this owner whose
 * answer was lost, and the first waiting one of every idle key. Expired ones that rest need no
 * place, and are claimed beyond the limit. It only compares database time. `rank` is the number of
 * places that the organization would have, `nth` that of its running workflows. Organizations take
 * turns by it, and the platform comes first. Rows are locked one by one by their id, only as many
 * as are claimed. The planner has no choice in that, because its estimate of the queue's length is
 * mostly outdated.
 */
export async function claim(sql: Sql, options: Taking): Promise<Claimed[]> {
  const { owner, leaseSeconds, limit, perOrganization, inAll, heldBack = [] } = options
  const [kinds, holding] = [[...options.kinds], [...options.holding]]
  const [forFirst, forFurther] = [limit - options.platformReserve, limit - options.reserve]
  const isExpired = sql`state = 'running' and (lease_until <= now() or owner = ${owner})
        and kind = any(${kinds}) and not id = any(${holding}::uuid[])`
  return sql<Claimed[]>`
    with running as materialized (
      select key, organization_id, is_resting from workflow where state = 'running'
    ), held as (
      select organization_id, count(*) filter (where not is_resting) as count, count(*) as in_all from running
      group by organization_id
    ), head as (
      select distinct on (key) id, key, seq, kind, organization_id from workflow where state = 'queued'
      order by key, seq
    ), ranked as (
      select head.id, head.seq, case when head.organization_id is null then 0 else coalesce(held.count, 0)
        + row_number() over (partition by head.organization_id order by head.seq) end as rank,
        case when head.organization_id is null then 0 else coalesce(held.in_all, 0)
        + row_number() over (partition by head.organization_id order by head.seq) end as nth
      from head left join held on held.organization_id = head.organization_id
      where kind = any(${kinds}) and key not in (select key from running)
        ${heldBack.reduce((all, ids) => sql`${all} and head.id <> all (array(${ids}))`, sql``)}
    ), placed as (
      select id, rank, row_number() over (order by rank, seq) as place from ranked
      where rank <= ${perOrganization} and nth <= ${inAll}
    ), waiting as (
      select taken.id from (
        select id from placed
        where rank = 0 or place <= ${forFurther} or (rank = 1 and place <= ${forFirst})
        order by place
      ) as free cross join lateral (
        select id, state from workflow where id = free.id offset 0 for update skip locked
      ) as taken
      where taken.state = 'queued' limit ${limit}
    ), resting as (
      select id from workflow where is_resting and ${isExpired}
      for update skip locked
    ), expired as (
      select id from workflow where not is_resting and ${isExpired}
      limit ${limit} for update skip locked
    ), picked as (
      select id from resting union all (select id from expired union all select id from waiting limit ${limit})
    )
    update workflow w
    set state = 'running', owner = ${owner}, fence = w.fence + 1, attempts = w.attempts + 1,
      lease_until = now() + make_interval(secs => ${leaseSeconds})
    from picked where w.id = picked.id
    returning w.id, w.fence::text as fence, w.kind, w.key, w.input, w.attempts, w.cancel_requested,
      w.organization_id, w.is_resting`
}

/**
 * Renews the leases that are still held and whose rows are not locked. A locked row is skipped,
 * because waiting for one long transaction must not cost all other workflows their leases.
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

/** Lists everything that is running, over all processes. */
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

/**
 * Releases a running workflow, which can be claimed again after so many seconds. Its holder can no
 * longer write.
 */
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

/** Returns false if the workflow is no longer held. */
export async function end(sql: Sql, held: Holding, state: EndState, error: string | null): Promise<boolean> {
  const ended = await sql`
    update workflow set state = ${state}, error = ${error}, finished_at = now(), owner = null, lease_until = null
    where id = ${held.id} and fence = ${held.fence} and state = 'running'`
  return ended.count === 1
}

/** Records whether the workflow only waits. Returns false if it is no longer held. */
export async function setResting(sql: Sql, held: Holding, isResting: boolean): Promise<boolean> {
  const changed = await sql`
    update workflow set is_resting = ${isResting}
    where id = ${held.id} and fence = ${held.fence} and state = 'running'`
  return changed.count === 1
}

/**
 * Locks the workflow against a take-over until the transaction ends. Returns false if it is no
 * longer held. Renewals do not wait for the lock. A holder that is stopped in the middle loses its
 * session and the lock after `idleMs`.
 */
export async function lock(sql: Sql, held: Holding, idleMs: number): Promise<boolean> {
  const locked = await sql`
    select set_config('idle_in_transaction_session_timeout', ${String(idleMs)}, true)
    from workflow where id = ${held.id} and fence = ${held.fence} and state = 'running' for key share`
  return locked.length === 1
}

/**
 * Marks the workflow for cancelling. Returns its new state, or undefined if it can no longer be
 * cancelled.
 */
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

/** The ids of unfinished work of one kind of workflow. */
export interface UnfinishedOfKind {
  readonly kind: string
  readonly unfinished: Fragment
}

/**
 * Lists those whose workflow has ended, of all kinds. Few are unfinished, and each is looked up
 * alone.
 */
export async function listUnfinished(
  sql: Sql,
  kinds: readonly UnfinishedOfKind[],
): Promise<readonly { readonly id: string; readonly kind: string }[]> {
  const [first, ...others] = kinds.map(
    ({ kind, unfinished }) => sql`
    select ended.id, ended.kind from (${unfinished}) as unfinished (id) cross join lateral (
      select id, kind from workflow where id = unfinished.id and kind = ${kind}
      and state not in ('queued', 'running') offset 0
    ) as ended`,
  )
  if (!first) return []
  return await sql<{ id: string; kind: string }[]>`${others.reduce((all, one) => sql`${all} union all ${one}`, first)}`
}

/** Returns undefined if it is already finished, or if another process is finishing it. */
export async function lockUnfinished(
  sql: Sql,
  id: string,
  unfinished: Fragment,
): Promise<{ input: Json; error: string | null } | undefined> {
  const [row] = await sql<{ input: Json; error: string | null }[]>`
    select input, error from workflow where id = ${id} for update skip locked`
  // Checked under the lock, because another process may have finished it meanwhile.
  const left = row && (await sql`select from (${unfinished}) as unfinished (id) where id = ${id}`)
  return left?.length === 1 ? row : undefined
}
