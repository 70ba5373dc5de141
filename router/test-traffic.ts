import { type CountBatch, countLength } from '@quayside/contract/traffic-counts.ts'
import type { TestBed } from './test-bed.ts'

/**
 * Returns how to read the numbers of a service so far, in the layout of `countAt`. Each batch is
 * added once.
 */
export function readCounts({ tell }: TestBed, service = 'service'): () => Promise<readonly number[]> {
  const total = new Array<number>(countLength).fill(0)
  const stored: Record<string, number> = {}
  return async () => {
    const { body } = await tell('POST', '/traffic', { stored })
    const batches: CountBatch[] = JSON.parse(JSON.stringify(body['batches']))
    for (const { source, batch, counts } of batches) {
      if (stored[source] === batch) continue
      stored[source] = batch
      for (const [position, one] of (counts[service] ?? []).entries()) total[position] = (total[position] ?? 0) + one
    }
    return total
  }
}
