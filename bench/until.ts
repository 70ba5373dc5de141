import { until as untilOf } from '../test/support/until.ts'

/** The same as in tests, with the limits of a measurement: it asks more often, and gives up sooner. */
export const until: typeof untilOf = (what, ask, options) =>
  untilOf(what, ask, { everyMs: 10, limitMs: 30_000, ...options })
