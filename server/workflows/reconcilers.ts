import type { Clock } from '../lib/clock.ts'
import { startLimit } from '../lib/deadline.ts'
import { messageOf } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import { backOff } from './outage.ts'
import { createWake, type Wake } from './wake.ts'

export interface ReconcilersOptions {
  /** Returns the reconcilers to run now, each with a name of its own. */
  readonly reconcilers: () => readonly Reconciler[]
  readonly clock: Clock
  readonly log: Logger
  /** Ends all of them, like `stop`, without waiting. */
  readonly signal: AbortSignal
  /** The limit of one run in milliseconds. Default ten minutes. */
  readonly limitMs?: number
  readonly random?: () => number
}

export interface Reconcilers {
  /** Runs it at once, or again if it is running now. Throws for a name that never existed. */
  nudge(name: string): void
  /**
   * Runs it at once, unless it is running or waits after a failure. Throws for a name that never
   * existed.
   */
  remind(name: string): void
  /** Starts added reconcilers, and ends removed ones. */
  refresh(): void
  stop(): Promise<void>
  counts(): Readonly<Record<string, { readonly runs: number; readonly failures: number }>>
}

const longestBackOffMs = 60_000

/**
 * Milliseconds until the next run: the interval within a tenth, or longer after consecutive
 * failures.
 */
export function nextDelay(everyMs: number, failures: number, random: () => number): number {
  if (failures === 0) return everyMs * (0.9 + random() * 0.2)
  return backOff(failures + 1, everyMs, Math.max(everyMs, longestBackOffMs), random)
}

/**
 * Runs each reconciler now and then every `everyMs`, never twice at the same time. Errors are
 * logged, counted and retried.
 */
export function runReconcilers(options: ReconcilersOptions): Reconcilers {
  const stopping = new AbortController()
  const signal = AbortSignal.any([options.signal, stopping.signal])
  const running = new Map<Reconciler, Running>()
  const byName = new Map<string, Running>()
  const start = (reconciler: Reconciler): void => {
    const former = byName.get(reconciler.name)
    const rest: Rest = { wake: createWake(options.clock), isDisturbable: false }
    const count = former?.count ?? { runs: 0, failures: 0 }
    const leaving = new AbortController()
    const own = AbortSignal.any([signal, leaving.signal])
    // A successor of the same name waits: they never run at the same time.
    const ended = (former?.ended ?? Promise.resolve()).then(() =>
      repeat({ ...options, reconciler, rest, count, signal: own }),
    )
    const one = { rest, count, leaving, ended }
    running.set(reconciler, one)
    byName.set(reconciler.name, one)
  }
  const refresh = (): void => {
    const wanted = options.reconcilers()
    refuseDoubles(wanted)
    const staying = new Set(wanted)
    for (const [reconciler, { rest, leaving }] of running) {
      if (staying.has(reconciler)) continue
      running.delete(reconciler)
      leaving.abort(new Error(`"${reconciler.name}" is no longer needed`))
      rest.wake.wake()
    }
    for (const reconciler of wanted) if (!running.has(reconciler)) start(reconciler)
  }
  const restOf = (name: string): Rest => {
    const one = byName.get(name)
    if (!one) throw new Error(`the reconciler "${name}" does not exist`)
    return one.rest
  }
  const wakeAll = (): void => {
    for (const { rest } of running.values()) rest.wake.wake()
  }
  signal.addEventListener('abort', wakeAll, { once: true })
  refresh()
  return {
    nudge: (name) => restOf(name).wake.wake(),
    remind: (name) => {
      const { wake, isDisturbable } = restOf(name)
      if (isDisturbable) wake.wake()
    },
    refresh,
    stop: async () => {
      stopping.abort(new Error('this process stops'))
      await Promise.all([...byName.values()].map(({ ended }) => ended))
    },
    counts: () => Object.fromEntries([...byName].map(([name, { count }]) => [name, { ...count }])),
  }
}

function refuseDoubles(reconcilers: readonly Reconciler[]): void {
  const names = new Set<string>()
  for (const { name } of reconcilers) {
    if (names.has(name)) throw new Error(`two reconcilers have the name "${name}"`)
    names.add(name)
  }
}

/** One reconciler, until it leaves. */
interface Running {
  readonly rest: Rest
  readonly count: { runs: number; failures: number }
  readonly leaving: AbortController
  readonly ended: Promise<void>
}

/** The pause between two runs. */
interface Rest {
  readonly wake: Wake
  /** Whether it is a pause after a success, which a reminder ends. */
  isDisturbable: boolean
}

interface Loop extends ReconcilersOptions {
  readonly reconciler: Reconciler
  readonly rest: Rest
  readonly count: { runs: number; failures: number }
}

async function repeat(loop: Loop): Promise<void> {
  const { reconciler, rest, count, signal, log, random = Math.random } = loop
  let failures = 0
  while (!signal.aborted) {
    try {
      count.runs++
      await runOnce(loop)
      failures = 0
    } catch (error) {
      if (signal.aborted) return
      failures++
      count.failures++
      log.warn({ reconciler: reconciler.name, reason: messageOf(error), failures }, 'reconciler failed')
    }
    rest.isDisturbable = failures === 0
    await rest.wake.wait(nextDelay(reconciler.everyMs, failures, random))
    rest.isDisturbable = false
  }
}

async function runOnce({ reconciler, clock, signal, limitMs = 600_000 }: Loop): Promise<void> {
  const late = () => new Error(`reconciler "${reconciler.name}" did not end within ${limitMs / 1000} s`)
  using limit = startLimit(clock, limitMs, late)
  await reconciler.reconcile(AbortSignal.any([signal, limit.signal]))
}
