import { bucketCount, countAt, countLength, latencyBoundsMs } from '@quayside/contract/traffic-counts.ts'

/** The counts of one window or range, in the layout of `countAt`. */
export type Counts = readonly number[]

/** Latencies in milliseconds that 50, 95 and 99 percent of the requests did not exceed. */
export interface Latency {
  readonly p50_ms: number
  readonly p95_ms: number
  readonly p99_ms: number
  readonly average_ms: number
}

const at = (counts: Counts, position: number): number => counts[position] ?? 0

/** Pure: adds arrays of counts. */
export const addAll = (all: readonly Counts[]): Counts =>
  Array.from({ length: countLength }, (_, position) => all.reduce((sum, counts) => sum + at(counts, position), 0))

/** Pure: returns the number of requests of all classes. */
export const requestsOf = (counts: Counts): number =>
  counts.slice(countAt.informational, countAt.own).reduce((sum, count) => sum + count, 0)

/**
 * Pure: returns the latency that a share of the requests did not exceed, by interpolation inside
 * its bucket. The bucket without a bound counts as its lower one. 0 without requests.
 */
export function quantile(buckets: Counts, share: number): number {
  const total = buckets.reduce((sum, count) => sum + count, 0)
  const rank = share * total
  let below = 0
  for (const [index, count] of buckets.entries()) {
    if (count > 0 && below + count >= rank) {
      const lower = index === 0 ? 0 : at(latencyBoundsMs, index - 1)
      const upper = latencyBoundsMs[index] ?? lower
      return lower + ((upper - lower) * (rank - below)) / count
    }
    below += count
  }
  return 0
}

const rounded = (ms: number): number => Math.round(ms * 10) / 10

/** Pure: null if no request had a time. */
function latencyOf(counts: Counts, histogram: number, sum: number): Latency | null {
  const buckets = counts.slice(histogram, histogram + bucketCount)
  const total = buckets.reduce((all, count) => all + count, 0)
  if (total === 0) return null
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => rounded(quantile(buckets, share)))
  return { p50_ms: p50 ?? 0, p95_ms: p95 ?? 0, p99_ms: p99 ?? 0, average_ms: rounded(at(counts, sum) / total) }
}

/** Pure: returns counts as the API shows them. */
export const figuresOf = (counts: Counts) => ({
  requests: requestsOf(counts),
  status_1xx: at(counts, countAt.informational),
  status_2xx: at(counts, countAt.success),
  status_3xx: at(counts, countAt.redirect),
  status_4xx: at(counts, countAt.clientError),
  status_5xx: at(counts, countAt.serverError),
  answered_by_router: at(counts, countAt.own),
  connections: at(counts, countAt.connections),
  bytes_in: at(counts, countAt.bytesIn),
  bytes_out: at(counts, countAt.bytesOut),
  first_byte: latencyOf(counts, countAt.firstByte, countAt.firstByteMs),
  duration: latencyOf(counts, countAt.whole, countAt.wholeMs),
})
