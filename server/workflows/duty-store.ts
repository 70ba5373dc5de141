import type { Sql } from '../database/index.ts'

/** Every installation has one duty: all work without a request. */
const name = 'work'

export interface Holder {
  readonly owner: string
  readonly fence: string
}

/**
 * Takes or renews the duty if it is free, expired, ours, or held by `dead`. Returns its holder
 * afterwards.
 */
export async function takeDuty(
  sql: Sql,
  { owner, leaseSeconds, dead }: { readonly owner: string; readonly leaseSeconds: number; readonly dead?: string },
): Promise<Holder | undefined> {
  const [holder] = await sql<Holder[]>`
    with taken as (
      insert into duty as d (name, owner, fence, until)
      values (${name}, ${owner}, 1, clock_timestamp() + make_interval(secs => ${leaseSeconds}))
      on conflict (name) do update
        set owner = excluded.owner, until = excluded.until,
            fence = case when d.owner = excluded.owner then d.fence else d.fence + 1 end
        where d.owner = excluded.owner or d.until < clock_timestamp() or d.owner = ${dead ?? ''}
      returning owner, fence)
    select owner, fence::text from taken
    union all
    select owner, fence::text from duty where name = ${name} and not exists (select from taken)`
  return holder
}

/** Frees the duty, so that another server takes it at its next look. */
export async function leaveDuty(sql: Sql, owner: string): Promise<void> {
  await sql`update duty set until = '-infinity', owner = '' where name = ${name} and owner = ${owner}`
}
