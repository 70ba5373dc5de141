import { type DueReconciler, inTransaction, type Sql } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import { submitBackup } from './backups.ts'
import type { BackupOptions } from './options.ts'
import { nextTime } from './policy.ts'
import { isDue, lockDue, type PolicyRow, setNext } from './policy-store.ts'
import { refuseMaking } from './refusals.ts'

/**
 * Makes backups that are due: each once, however many servers run. One backup is made for all times
 * that passed while no server ran. A time at which the service cannot be backed up is skipped, with
 * the reason in the log.
 */
export const createBackupScheduler = (options: BackupOptions): DueReconciler => ({
  name: 'backup timetables',
  everyMs: 60_000,
  due: (sql) => isDue(sql, options.clock.now()),
  reconcile: async () => {
    const made = await inTransaction(options.database, async (sql) => {
      const now = options.clock.now()
      let count = 0
      for (const due of await lockDue(sql, now)) {
        if (await follow(options, sql, due)) count++
        const { cron_at, timezone } = due
        await setNext(sql, due.service_id, (cron_at !== null && nextTime({ cron_at, timezone }, now)) || null)
      }
      return count
    })
    if (made > 0) options.workflows().nudge()
  },
})

async function follow(options: BackupOptions, sql: Sql, { service_id }: PolicyRow): Promise<boolean> {
  try {
    const service = await refuseMaking(options, sql, service_id)
    await submitBackup(options, sql, service, { message: 'Made by the timetable of the service.' })
    return true
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    options.log.warn({ service: service_id, reason: error.message }, 'a backup of the timetable was left out')
    return false
  }
}
