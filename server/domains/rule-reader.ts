import type { RouteRules } from '@quayside/contract/routes.ts'
import type { SettingValues } from '@quayside/contract/services/setting-table.ts'

/** Returns the router rules of one advanced setting. Throws for an invalid value. */
export type RuleReader = (value: unknown, all: SettingValues) => RouteRules

export const positive = (value: unknown): number | undefined =>
  typeof value === 'number' && value > 0 ? value : undefined

export const text = (value: unknown, fallback = ''): string =>
  typeof value === 'string' && value !== '' ? value : fallback

/** Reads words that commas or spaces separate. */
export const listOf = (value: unknown, fallback = ''): string[] =>
  text(value, fallback)
    .split(/[\s,]+/)
    .filter((part) => part !== '')

/** Longer times are reduced to a day. */
const mostSeconds = 86_400

type TimeRule =
  | 'readTimeoutMs'
  | 'sendTimeoutMs'
  | 'clientTimeoutMs'
  | 'connectTimeoutMs'
  | 'requestTimeoutMs'
  | 'idleTimeoutMs'

export const milliseconds = (value: unknown): number | undefined => {
  const given = positive(value)
  return given === undefined ? undefined : Math.min(given, mostSeconds) * 1000
}

/** Reads seconds into a rule with that name. 0 and null mean no limit. */
export const seconds =
  (rule: TimeRule): RuleReader =>
  (value) => {
    const limit = milliseconds(value)
    return limit === undefined ? {} : { [rule]: limit }
  }
