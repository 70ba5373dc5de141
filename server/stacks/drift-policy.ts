import type { Database } from '../database/index.ts'
import { nextOccurrence } from '../jobs/index.ts'
import type { Clock } from '../lib/clock.ts'
import { notFound } from '../lib/error.ts'
import { checkTimeZone } from '../lib/time-zone.ts'
import { checkCron } from '../services/index.ts'
import { findDriftPolicy, saveDriftPolicy } from './drift-store.ts'
import { listRuns } from './run-record-store.ts'
import { toRecord } from './run-records.ts'

export interface WantedDriftPolicy {
  readonly cron_at?: string | null
  readonly timezone: string
}

/** Returns when a stack is checked for drift, and what the last check found. */
export async function driftPolicy(database: Database, serviceId: string) {
  const row = await findDriftPolicy(database, serviceId)
  if (!row) throw notFound('service', serviceId)
  const { cron_at, timezone, next_at, drifted_at } = row
  const last = (await listRuns(database, serviceId, 'DRIFT'))[0]
  return { cron_at, timezone, next_at, drifted_at, last_run: last ? toRecord(last) : null }
}

/** Replaces the timetable. Throws 400 for an invalid timetable or time zone. */
export async function editDriftPolicy(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  serviceId: string,
  { cron_at = null, timezone }: WantedDriftPolicy,
) {
  if (cron_at !== null) checkCron('cron_at', cron_at)
  checkTimeZone('timezone', timezone)
  const next_at = nextDrift({ cron_at, timezone }, clock.now())
  await saveDriftPolicy(database, { service_id: serviceId, cron_at, timezone, next_at })
  return driftPolicy(database, serviceId)
}

/** Pure: returns the next moment of a timetable. Null if there is none. */
export const nextDrift = (
  { cron_at, timezone }: { readonly cron_at: string | null; readonly timezone: string },
  after: Date,
): Date | null => (cron_at === null ? null : (nextOccurrence({ scheduled_at: cron_at, timezone }, after) ?? null))
