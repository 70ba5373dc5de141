import type { Database } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import { deleteDeliveries, deleteEvents } from './retention-store.ts'
import { shownDeliveries } from './webhooks.ts'

const dayMs = 24 * 3600 * 1000
/** The most rows that one statement deletes. */
const mostDeleted = 1_000

/**
 * Deletes deliveries and events that are older than `days` days, once an hour. Deliveries that the
 * API lists or that are not finished stay, with their events.
 */
export const createDeliveryPruner = (options: {
  readonly database: Database
  readonly clock: Clock
  readonly days: number
}): Reconciler => ({
  name: 'webhook deliveries',
  everyMs: 3600 * 1000,
  reconcile: async (signal) => {
    const { database, clock, days } = options
    const before = new Date(clock.now().getTime() - days * dayMs)
    const wanted = { before, kept: shownDeliveries, limit: mostDeleted }
    while (!signal.aborted && (await deleteDeliveries(database, wanted)) === mostDeleted) {}
    while (!signal.aborted && (await deleteEvents(database, before, mostDeleted)) === mostDeleted) {}
  },
})
