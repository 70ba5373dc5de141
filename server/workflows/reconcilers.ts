import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import { nobodyWaits } from '../lib/nobody-waits.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import { backOff } from './outage.ts'
import { createWake, type Wake } from './wake.ts'

export interface ReconcilersOptions {
  readonly reconcilers: readonly Reconciler[]
  readonly clock: Clock
  readonly log: Logger
  /** Ends all of them, like `stop`, without waiting. */
  readonly signal: AbortSignal
  /** The limit of one run in milliseconds. Default ten minutes. */
  readonly limitMs?: number
  readonly random?: () => number
}

export interface Reconcilers {
  /** Runs it at once, or again if it is running now. Throws for an unknown name. */
  nudge(name: string): void
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
  const wakes = new Map<string, Wake>()
  const counts: Record<string, { runs: number; failures: number }> = {}
  const loops: Promise<void>[] = []
  const names = options.reconcilers.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new Error(`two reconcilers have the name "${twice}"`)
  for (const reconciler of options.reconcilers) {
    const wake = createWake(options.clock)
    const count = { runs: 0, failures: 0 }
    wakes.set(reconciler.name, wake)
    counts[reconciler.name] = count
    loops.push(repeat({ ...options, reconciler, wake, count, signal }))
  }
  const wakeAll = (): void => {
    for (const wake of wakes.values()) wake.wake()
  }
  signal.addEventListener('abort', wakeAll, { once: true })
  return {
    nudge: (name) => {
      const wake = wakes.get(name)
      if (!wake) throw new Error(`the reconciler "${name}" does not exist`)
      wake.wake()
    },
    stop: async () => {
      stopping.abort(new Error('this process stops'))
      await Promise.all(loops)
    },
    counts: () => structuredClone(counts),
  }
}

interface Loop extends ReconcilersOptions {
  readonly reconciler: Reconciler
  readonly wake: Wake
  readonly count: { runs: number; failures: number }
}

async function repeat(loop: Loop): Promise<void> {
  const { reconciler, wake, count, signal, log, random = Math.random } = loop
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
    await wake.wait(nextDelay(reconciler.everyMs, failures, random))
  }
}

async function runOnce({ reconciler, clock, signal, limitMs = 600_000 }: Loop): Promise<void> {
  const late = new AbortController()
  const over = new AbortController()
  clock.sleep(limitMs, over.signal).then(
    () => late.abort(new Error(`reconciler "${reconciler.name}" did not end within ${limitMs / 1000} s`)),
    () => {},
  )
  try {
    await reconciler.reconcile(AbortSignal.any([signal, late.signal]))
  } finally {
    over.abort(nobodyWaits)
  }
}
