import type { Sql } from '../database/index.ts'

/**
 * Deletes at most `limit` finished deliveries that began before a time, except the newest `kept` of
 * each webhook. Returns their number.
 */
export async function deleteDeliveries(
  sql: Sql,
  { before, kept, limit }: { readonly before: Date; readonly kept: number; readonly limit: number },
): Promise<number> {
  const { count } = await sql`
    with newest as (
      select w.id, (select created_at from webhook_delivery where webhook_id = w.id
        order by created_at desc offset ${kept - 1} limit 1) as since
      from webhook w)
    delete from webhook_delivery where id in (
      select d.id from newest n join webhook_delivery d on d.webhook_id = n.id and d.created_at < n.since
        and d.created_at < ${before}
      where d.state <> 'pending' limit ${limit})`
  return count
}

/**
 * Deletes at most `limit` events from before a time that have no delivery: no webhook wanted them,
 * or all deliveries are deleted. Returns their number.
 */
export async function deleteEvents(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from event where id in (
      select e.id from event e where e.dispatched_at is not null and e.created_at < ${before}
        and not exists (select from webhook_delivery d where d.event_id = e.id)
      order by e.seq limit ${limit})`
  return count
}
