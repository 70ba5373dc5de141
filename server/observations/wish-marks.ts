import type { Database } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { readWishMarks } from './observation-store.ts'

/** Texts that differ if something else should run on an engine. All observers share them. */
export interface WishMarks {
  /**
   * Returns the mark of an engine, about a second old at most. An observer may skip a look at what
   * it has settled. It must not act by it.
   */
  of(engine: string): Promise<string>
}

const everyMs = 900

export function createWishMarks({ database, clock }: Readonly<{ database: Database; clock: Clock }>): WishMarks {
  let known: ReadonlyMap<string, string> = new Map()
  let readAtMs = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined
  const read = async (): Promise<void> => {
    const startedAtMs = clock.monotonic()
    known = new Map((await readWishMarks(database)).map(({ engine, mark }) => [engine, mark]))
    readAtMs = startedAtMs
  }
  return {
    of: async (engine) => {
      if (clock.monotonic() - readAtMs >= everyMs) {
        reading ??= read().finally(() => {
          reading = undefined
        })
        await reading
      }
      return known.get(engine) ?? ''
    },
  }
}
