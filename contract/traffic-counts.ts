/**
 * The layout of the numbers about the traffic of one service, shared by router, server and
 * database. They are one array, so that counting a request makes no object. A position never gets
 * another meaning, because stored arrays have the same layout.
 */

/**
 * The upper bounds of the buckets of a histogram, in milliseconds. One more bucket has no bound.
 */
export const latencyBoundsMs: readonly number[] = Array.from({ length: 17 }, (_, power) => 2 ** power)

/** The number of buckets of a histogram. */
export const bucketCount = latencyBoundsMs.length + 1

/** The positions of the numbers. Histograms begin at theirs. */
export const countAt = {
  /** Responses with a status of 100 to 199. The other four classes follow. */
  informational: 0,
  success: 1,
  redirect: 2,
  clientError: 3,
  serverError: 4,
  /** Requests that the router answered itself, that it broke off, or whose client left. */
  own: 5,
  /** Connections of TCP ports, and clients of UDP ports. */
  connections: 6,
  bytesIn: 7,
  bytesOut: 8,
  /** The sum of all times to the first byte, in milliseconds. */
  firstByteMs: 9,
  /** The sum of all times to the last byte, in milliseconds. */
  wholeMs: 10,
  /** The histogram of the times to the first byte. */
  firstByte: 11,
  /** The histogram of the times to the last byte. */
  whole: 11 + bucketCount,
} as const

/** The length of the array. */
export const countLength = countAt.whole + bucketCount

/** Returns the bucket of a duration: the first one whose bound is not below it. */
export function bucketOf(ms: number): number {
  if (ms <= 1) return 0
  const bucket = 32 - Math.clz32(Math.ceil(ms) - 1)
  return ms > 65_536 ? bucketCount - 1 : bucket
}

/** The numbers that a router process counted since its previous batch. */
export interface CountBatch {
  /** Identifies the process. */
  readonly source: string
  /** Grows by one with each batch of the process. */
  readonly batch: number
  /** The numbers by the id of the service. A service without traffic is missing. */
  readonly counts: Readonly<Record<string, readonly number[]>>
}

/** The number of the last stored batch of each process. */
export type StoredBatches = Readonly<Record<string, number>>

/** Whether a value is a whole array of numbers that only count up. */
export const isCounts = (value: unknown): value is readonly number[] =>
  Array.isArray(value) &&
  value.length === countLength &&
  value.every((one) => typeof one === 'number' && Number.isSafeInteger(one) && one >= 0)
