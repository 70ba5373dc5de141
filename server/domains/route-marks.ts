import type { Database } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { RouterScope } from '../routers/index.ts'
import { type EngineMarks, joinMarks, readRouteMarks, readRouteVersion } from './route-table-store.ts'

/** Texts that differ if the tables of a router do. All routers share the statements behind them. */
export interface RouteMarks {
  /** Returns the mark of the routes in a scope, read after this call. */
  of(scope: RouterScope): Promise<string>
  /** Returns the same for hosts and endpoints of one engine alone, without states and settings. */
  ofEndpoints(engine: string): Promise<string>
}

/** The shortest time between the starts of two reads. Calls in between share the second. */
const spacingMs = 50
/** The marks are read again after this time, also if the version is the same. */
const marksMs = 5_000

type Marks = ReadonlyMap<string | null, EngineMarks>

/**
 * Creates the marks of all routers. A change concerns few routers: without marks each change would
 * make every router read its table.
 */
export function createRouteMarks({ database, clock }: Readonly<{ database: Database; clock: Clock }>): RouteMarks {
  let known: { readonly version: number; readonly marks: Marks; readonly readAtMs: number } | undefined
  let startedAtMs = Number.NEGATIVE_INFINITY
  let turn: Promise<unknown> = Promise.resolve()
  let next: Promise<Marks> | undefined

  const read = async (): Promise<Marks> => {
    const nowMs = clock.monotonic()
    startedAtMs = nowMs
    const version = await readRouteVersion(database)
    if (known?.version === version && nowMs - known.readAtMs < marksMs) return known.marks
    const rows = await readRouteMarks(database)
    known = { version, marks: new Map(rows.map((row) => [row.engine, row])), readAtMs: nowMs }
    return known.marks
  }
  const readInTurn = async (): Promise<Marks> => {
    await turn
    const pauseMs = startedAtMs + spacingMs - clock.monotonic()
    if (pauseMs > 0) await clock.sleep(pauseMs)
    next = undefined
    const reading = read()
    turn = reading.catch(() => {})
    return reading
  }
  const current = (): Promise<Marks> => {
    next ??= readInTurn()
    return next
  }
  return {
    ofEndpoints: async (engine) => (await current()).get(engine)?.endpoints ?? '',
    of: async ({ engines, isRest }) => {
      const marks = await current()
      if (!isRest) return joinMarks(engines.flatMap((engine) => marks.get(engine) ?? []))
      const others = new Set<string | null>(engines)
      return joinMarks([...marks.values()].filter(({ engine }) => !others.has(engine)))
    },
  }
}
