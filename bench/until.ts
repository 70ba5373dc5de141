import { until as untilOf } from '../test/support/until.ts'

/**
 * The `until` of the tests with the limits of a measurement: polls more often and times out sooner.
 */
export const until: typeof untilOf = (what, ask, options) =>
  untilOf(what, ask, { everyMs: 10, limitMs: 30_000, ...options })
