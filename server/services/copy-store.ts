import type { Sql } from '../database/index.ts'
import { newId } from '../lib/id.ts'
import { requireRoomOfNew } from '../limits/index.ts'
import { findPolicy, putPolicy } from './autoscaling-store.ts'
import { listRestrictions } from './restriction-store.ts'

/** Copies advanced settings, deployment restrictions and the autoscaling policy under new ids. */
export async function copyPartRows(
  sql: Sql,
  { fromId, toId, now }: { fromId: string; toId: string; now: Date },
): Promise<void> {
  await sql`
    update service set advanced_settings = (select advanced_settings from service where id = ${fromId})
    where id = ${toId}`
  const restrictions = await listRestrictions(sql, fromId)
  await requireRoomOfNew(sql, 'restrictions', restrictions.length)
  if (restrictions.length > 0) {
    const rows = restrictions.map(({ mode, type, value }) => ({
      id: newId(),
      service_id: toId,
      created_at: now,
      updated_at: now,
      mode,
      type,
      value,
    }))
    await sql`insert into deployment_restriction ${sql(rows)}`
  }
  const policy = await findPolicy(sql, fromId)
  if (!policy) return
  const at = now.toISOString()
  const times = { created_at: at, updated_at: at }
  const scalers = policy.scalers.map((scaler) => ({
    ...scaler,
    ...times,
    id: newId(),
    trigger_authentication: scaler.trigger_authentication && {
      ...scaler.trigger_authentication,
      ...times,
      id: newId(),
    },
  }))
  await putPolicy(sql, { ...policy, id: newId(), service_id: toId, created_at: now, updated_at: now, scalers })
}
