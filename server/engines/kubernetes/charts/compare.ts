import { inWorker, OverLimit } from '../../../lib/in-worker.ts'
import { type ChartChange, EngineError } from '../../engine.ts'
import type { Comparison } from './compare-objects.ts'

const module = new URL('compare-objects.ts', import.meta.url)

/**
 * Compares the objects of two releases of a chart on a thread of its own. Throws
 * EngineError('refused') if that takes too long.
 */
export async function compare(argument: Comparison): Promise<readonly ChartChange[]> {
  const task = { module, name: 'compareObjects', argument }
  try {
    // The worker returns what the function of that name returns.
    return (await inWorker(task, { limitMs: 30_000, memoryMiB: 1024 })) as readonly ChartChange[]
  } catch (cause) {
    if (!(cause instanceof OverLimit)) throw cause
    throw new EngineError('refused', 'its objects are too large to be compared; split the chart', { cause })
  }
}
