import { type Database, inTransaction } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import { floorTo, levels } from './levels.ts'
import {
  deleteSources,
  deleteWindows,
  findFirstWindow,
  readCompleteUntil,
  summarize,
  writeCompleteUntil,
} from './traffic-store.ts'

/** A window is summarized this long after its end, when no server adds to it any more. */
const graceMs = 60_000
/** The most windows that one run summarizes, and the most rows that one statement deletes. */
const mostWindows = 50
const mostDeleted = 5_000
/** A router process that has been silent for this long does not return. */
const sourceKeptMs = 40 * 24 * 3600 * 1000

/**
 * Adds fine windows up to coarse ones, and deletes windows at the end of their time. Summarizing
 * again replaces the sums, so that nothing is added twice, also if the clock goes back.
 */
export const createTrafficKeeper = (options: { readonly database: Database; readonly clock: Clock }): Reconciler => ({
  name: 'traffic windows',
  everyMs: 60_000,
  reconcile: async (signal) => {
    const { database, clock } = options
    const nowMs = clock.now().getTime()
    const completeUntil = new Map(await readCompleteUntil(database))
    let readyMs = nowMs - graceMs
    for (const [index, { seconds }] of levels.entries()) {
      const finer = levels[index - 1]
      if (!finer) continue
      const endMs = floorTo(readyMs, seconds)
      const done = await advance(database, { finer: finer.seconds, seconds, endMs }, completeUntil.get(seconds), signal)
      completeUntil.set(seconds, done)
      readyMs = done
    }
    for (const [index, { seconds, keptSeconds }] of levels.entries()) {
      const coarser = levels[index + 1]
      const summedMs = coarser ? (completeUntil.get(coarser.seconds) ?? 0) : nowMs
      const before = new Date(Math.min(nowMs - keptSeconds * 1000, summedMs))
      while (!signal.aborted && (await deleteWindows(database, seconds, before, mostDeleted)) === mostDeleted) {}
    }
    await deleteSources(database, new Date(nowMs - sourceKeptMs))
  },
})

/**
 * Summarizes the next windows up to `endMs`. Returns up to when they are complete. A clock that
 * went back has them summarized again.
 */
async function advance(
  database: Database,
  { finer, seconds, endMs }: { readonly finer: number; readonly seconds: number; readonly endMs: number },
  doneMs: number | undefined,
  signal: AbortSignal,
): Promise<number> {
  if (doneMs === endMs) return endMs
  let untilMs = doneMs !== undefined && doneMs < endMs ? doneMs : doneMs === undefined ? 0 : endMs
  for (let left = mostWindows; left > 0 && untilMs < endMs && !signal.aborted; left--) {
    const first = await findFirstWindow(database, finer, new Date(untilMs))
    const startMs = first ? floorTo(first.getTime(), seconds) : endMs
    untilMs = Math.min(endMs, startMs + seconds * 1000)
    await inTransaction(database, async (sql) => {
      if (startMs < endMs) await summarize(sql, { finer, seconds, startsAt: new Date(startMs) })
      await writeCompleteUntil(sql, seconds, new Date(untilMs))
    })
  }
  if (untilMs === endMs) await writeCompleteUntil(database, seconds, new Date(untilMs))
  return untilMs
}
