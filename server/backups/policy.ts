import { type Database, inTransaction } from '../database/index.ts'
import { nextOccurrence } from '../jobs/index.ts'
import type { Clock } from '../lib/clock.ts'
import { checkTimeZone } from '../lib/time-zone.ts'
import { checkCron, type ServiceRow } from '../services/index.ts'
import { findPolicy, type PolicyRow, savePolicy } from './policy-store.ts'
import { prune, usualKeep } from './prune.ts'

export interface WantedPolicy {
  readonly cron_at?: string | null
  readonly timezone: string
  readonly keep: number
}

/** When a service is backed up automatically, and how many backups are kept. */
export function createPolicies({ database, clock }: { readonly database: Database; readonly clock: Clock }) {
  return {
    async policy({ id }: ServiceRow) {
      const row = await findPolicy(database, id)
      return toRecord(row ?? { cron_at: null, timezone: 'Etc/UTC', keep: usualKeep, next_at: null })
    },

    /** Removes surplus backups at once. Throws 400 for an invalid timetable or time zone. */
    async editPolicy({ id }: ServiceRow, { cron_at = null, timezone, keep }: WantedPolicy) {
      if (cron_at !== null) checkCron('cron_at', cron_at)
      checkTimeZone('timezone', timezone)
      const next_at = cron_at === null ? null : (nextTime({ cron_at, timezone }, clock.now()) ?? null)
      const row = { service_id: id, cron_at, timezone, keep, next_at }
      await inTransaction(database, async (sql) => {
        await savePolicy(sql, row)
        await prune(sql, id)
      })
      return toRecord(row)
    },
  }
}

/** Returns the next moment after the given one; undefined if there is none. */
export const nextTime = (
  { cron_at, timezone }: { readonly cron_at: string; readonly timezone: string },
  after: Date,
): Date | undefined => nextOccurrence({ scheduled_at: cron_at, timezone }, after)

const toRecord = ({ cron_at, timezone, keep, next_at }: Omit<PolicyRow, 'service_id'>) => ({
  cron_at,
  timezone,
  keep,
  next_at,
})
