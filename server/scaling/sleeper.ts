import { type Database, inTransaction } from '../database/index.ts'
import { setEndpoints } from '../domains/index.ts'
import { reconcilerName } from '../engines/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import type { Router, RouterScope } from '../routers/index.ts'
import { lockService } from '../services/index.ts'
import type { Announcer } from './announcer.ts'
import { isIdle, type Quiet, stillQuiet } from './idle.ts'
import { rangeOf, wantedReplicas } from './replicas.ts'
import { listRunning, putScale, type RunningRow } from './scaling-store.ts'

export interface SleeperOptions extends Announcer {
  readonly database: Database
  /** The router whose services it watches, with the name of its first engine and its clusters. */
  readonly router: Pick<Router, 'activity' | 'countsRequests'>
  readonly name: string
  readonly scope: RouterScope
  readonly clock: Clock
  readonly log: Logger
  /** The time between two looks. Five seconds by default. */
  readonly everyMs?: number
}

/** For services without an autoscaling policy. A policy has its own cool-down. */
const usualIdleSeconds = 300

/**
 * Puts services to sleep if their settings allow zero replicas and the router had no request for
 * them for long.
 */
export function createSleeper(options: SleeperOptions): Reconciler {
  const { database, router, name, scope, clock, log } = options
  const known = new Map<string, Quiet & { readonly release: string }>()
  return {
    name: reconcilerName('sleep', name),
    everyMs: options.everyMs ?? 5_000,
    reconcile: async (signal) => {
      if (!router.countsRequests()) return
      const rows = (await listRunning(database, { mayWake: true, scope })).filter(isAwake)
      const ids = new Set(rows.map(({ id }) => id))
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id)
      if (rows.length === 0) return
      const activity = await router.activity(signal)
      for (const row of rows) {
        const now = clock.monotonic()
        const before = known.get(row.id)
        const quiet = stillQuiet(before?.release === row.release_id ? before : undefined, activity.get(row.id), now)
        known.set(row.id, { ...quiet, release: row.release_id })
        const idleSeconds = row.cooldown_period_seconds ?? usualIdleSeconds
        if (!isIdle(quiet, idleSeconds * 1000, now)) continue
        if (!(await fallAsleep(options, row))) continue
        known.delete(row.id)
        log.info({ serviceId: row.id, idleSeconds }, 'a service had no requests and falls asleep')
        options.changed(row.id, `It had no requests for ${idleSeconds} s and sleeps until the next one.`)
      }
    },
  }
}

const isAwake = (row: RunningRow): boolean =>
  !row.busy && row.routed && wantedReplicas(rangeOf(row.settings), row.scale) > 0

/** With the next table new requests wait. Open ones continue until they end. */
async function fallAsleep({ database, clock }: SleeperOptions, row: RunningRow): Promise<boolean> {
  return inTransaction(database, async (sql) => {
    await lockService(sql, row.id)
    const [now] = await listRunning(sql, { id: row.id, mayWake: true })
    if (!now || !isAwake(now) || now.release_id !== row.release_id || now.scale !== row.scale) return false
    await putScale(sql, row.id, 0, clock.now())
    await setEndpoints(sql, row.id, row.release_id, [], clock.now())
    return true
  })
}
