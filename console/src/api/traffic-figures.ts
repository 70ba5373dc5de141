import type { ServiceTraffic, TrafficPoint } from './reads-traffic.ts'

/** One line of a chart. A null value is a gap. */
export type Values = readonly (number | null)[]

/** The lines of all charts about traffic. Times are seconds since 1970. */
export interface TrafficLines {
  readonly times: readonly number[]
  readonly requests: Values
  readonly errors: Values
  readonly p50: Values
  readonly p95: Values
  readonly p99: Values
  readonly bytesIn: Values
  readonly bytesOut: Values
}

/** A step that has just begun says little about its rate. */
const leastShare = 0.3

/** Pure: the share of requests that failed with a status of 500 or more, in percent. */
export const errorPercent = ({ requests, status_5xx }: Pick<TrafficPoint, 'requests' | 'status_5xx'>): number =>
  requests === 0 ? 0 : (100 * status_5xx) / requests

/** Pure: rates a second of each step. The last step counts with its part that is over. */
export function trafficLines({ points, step_seconds: step }: ServiceTraffic, nowSeconds: number): TrafficLines {
  const timed = points
    .map((point) => ({ ...point, start: Date.parse(point.at) / 1000 }))
    .map((point) => ({ ...point, seconds: Math.min(step, nowSeconds - point.start) }))
    .filter(({ seconds }) => seconds >= step * leastShare)
  return {
    times: timed.map(({ start }) => start),
    requests: timed.map(({ requests, seconds }) => requests / seconds),
    errors: timed.map((point) => (point.requests === 0 ? null : errorPercent(point))),
    p50: timed.map(({ duration }) => duration?.p50_ms ?? null),
    p95: timed.map(({ duration }) => duration?.p95_ms ?? null),
    p99: timed.map(({ duration }) => duration?.p99_ms ?? null),
    bytesIn: timed.map(({ bytes_in, seconds }) => bytes_in / seconds),
    bytesOut: timed.map(({ bytes_out, seconds }) => bytes_out / seconds),
  }
}

/** Pure: a number with at most three digits that matter, such as 12.3 or 1,240. */
export const amount = (value: number): string =>
  value.toLocaleString('en', value >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 })

/** Pure: milliseconds in words, such as "85 ms" or "1.2 s". */
export const milliseconds = (ms: number): string => (ms < 1_000 ? `${amount(ms)} ms` : `${amount(ms / 1_000)} s`)

/** Pure: a share in percent, such as "0.4 %". */
export const percent = (value: number): string => `${value > 0 && value < 0.01 ? '< 0.01' : amount(value)} %`
