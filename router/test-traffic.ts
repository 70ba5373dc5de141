import { type CountBatch, countLength } from '@quayside/contract/traffic-counts.ts'
import type { TestBed } from './test-bed.ts'

/** The numbers of a service so far, in the layout of `countAt`. */
export type ReadCounts = (service?: string) => Promise<readonly number[]>

/**
 * Returns how to read the numbers of services so far. Each batch is added once, so a test must read
 * all services by the same function.
 */
export function readCounts({ tell }: TestBed): ReadCounts {
  const totals = new Map<string, number[]>()
  const stored: Record<string, number> = {}
  const of = (service: string): number[] => totals.get(service) ?? new Array<number>(countLength).fill(0)
  return async (service = 'service') => {
    const { body } = await tell('POST', '/traffic', { stored })
    const batches: CountBatch[] = JSON.parse(JSON.stringify(body['batches']))
    for (const { source, batch, counts } of batches) {
      if (stored[source] === batch) continue
      stored[source] = batch
      for (const [id, added] of Object.entries(counts)) {
        totals.set(
          id,
          of(id).map((one, position) => one + (added[position] ?? 0)),
        )
      }
    }
    return of(service)
  }
}
