import { type CountBatch, isCounts, type StoredBatches } from '@quayside/contract/traffic-counts.ts'
import { type Database, inTransaction } from '../database/index.ts'
import { reconcilerName } from '../engines/index.ts'
import type { Clock } from '../lib/clock.ts'
import { parseId } from '../lib/id.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import type { Router, RouterScope } from '../routers/index.ts'
import { floorTo, levels } from './levels.ts'
import { addCounts, claimBatch } from './traffic-store.ts'

export interface TrafficCollectorOptions {
  readonly database: Database
  readonly clock: Clock
  /** The router, with the name of its first engine and its clusters. */
  readonly router: Pick<Router, 'takeCounts'>
  readonly name: string
  readonly scope: RouterScope
}

/** Acknowledgements that are remembered. A forgotten batch is sent again, and then ignored. */
const mostRemembered = 200
/** No honest batch has a larger number: a petabyte. */
const largestCount = 2 ** 50

/**
 * Stores the numbers that a router counted, each batch once. A router repeats a batch until it is
 * acknowledged, so that neither a failure here nor a restart loses or doubles it.
 */
export function createTrafficCollector(options: TrafficCollectorOptions): Reconciler {
  const { router, name } = options
  let stored: StoredBatches = {}
  return {
    name: reconcilerName('traffic', name),
    everyMs: 10_000,
    reconcile: async (signal) => {
      const batches = (await router.takeCounts(stored, signal)).filter(isValid)
      for (const batch of batches.toSorted((a, b) => a.batch - b.batch)) {
        await storeBatch(options, batch)
        stored = { ...stored, [batch.source]: batch.batch }
      }
      stored = Object.fromEntries(Object.entries(stored).slice(-mostRemembered))
    },
  }
}

const isValid = ({ source, batch }: CountBatch): boolean =>
  parseId(source) !== undefined && Number.isSafeInteger(batch) && batch > 0

/** The numbers belong to the minute in which they are stored. */
async function storeBatch({ database, clock, scope }: TrafficCollectorOptions, batch: CountBatch): Promise<void> {
  const now = clock.now()
  const [{ seconds }] = levels
  await inTransaction(database, async (sql) => {
    if (!(await claimBatch(sql, batch, now))) return
    const counts = new Map(
      Object.entries(batch.counts).filter(([id, one]) => parseId(id) !== undefined && isHonest(one)),
    )
    await addCounts(sql, { counts, seconds, startsAt: new Date(floorTo(now.getTime(), seconds)), scope })
  })
}

const isHonest = (counts: unknown): boolean => isCounts(counts) && counts.every((count) => count <= largestCount)
