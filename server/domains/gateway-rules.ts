import { type RetryCondition, type RetryRule, retryConditions } from '@quayside/contract/routes.ts'
import type { SettingValues } from '@quayside/contract/services/setting-table.ts'
import { milliseconds, type RuleReader, seconds, text } from './rule-reader.ts'

const prefix = 'network.gateway_api.'
const usualRetries = 2
const mostRetries = 10

const wordsOf = (value: unknown): string[] =>
  text(value)
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')

function conditionsOf(value: unknown): RetryCondition[] {
  return wordsOf(value).map((word) => {
    const known = retryConditions.find((condition) => condition === word)
    if (known === undefined) throw new Error(`"${word}" is not one of ${retryConditions.join(', ')}`)
    return known
  })
}

function statusesOf(value: unknown): number[] {
  return wordsOf(value).map((word) => {
    const status = /^[45]\d\d$/.test(word) ? Number(word) : undefined
    if (status === undefined) throw new Error(`"${word}" is not a status from 400 to 599`)
    return status
  })
}

function timesOf(value: unknown): number | undefined {
  if (typeof value !== 'number') return undefined
  if (value > mostRetries) throw new Error(`a request is sent again at most ${mostRetries} times`)
  return value
}

/** Returns the rule that these settings form together. Undefined if none is set. */
function retryRule(all: SettingValues): RetryRule | undefined {
  const of = (name: string): unknown => all[`${prefix}retry.${name}`]
  const times = timesOf(of('num_retries'))
  const on = conditionsOf(of('retry_on'))
  const statuses = statusesOf(of('http_status_codes'))
  const perTryMs = milliseconds(of('per_try_timeout_seconds'))
  if (times === undefined && on.length === 0 && statuses.length === 0 && perTryMs === undefined) return undefined
  return {
    times: times ?? usualRetries,
    ...(on.length > 0 ? { on } : {}),
    ...(statuses.length > 0 ? { statuses } : {}),
    ...(perTryMs === undefined ? {} : { perTryMs }),
  }
}

/** Checks each value separately, so an error names its key. All values form one rule. */
const retry =
  (check: (value: unknown) => unknown): RuleReader =>
  (value, all) => {
    check(value)
    const rule = retryRule(all)
    return rule ? { retry: rule } : {}
  }

/** The readers of the advanced settings `network.gateway_api.*`, by key. */
export const gatewayReaders: Readonly<Record<string, RuleReader>> = {
  [`${prefix}http_request_timeout_seconds`]: seconds('requestTimeoutMs'),
  [`${prefix}http_connection_idle_timeout_seconds`]: seconds('idleTimeoutMs'),
  [`${prefix}retry.num_retries`]: retry(timesOf),
  [`${prefix}retry.retry_on`]: retry(conditionsOf),
  [`${prefix}retry.http_status_codes`]: retry(statusesOf),
  [`${prefix}retry.per_try_timeout_seconds`]: retry(milliseconds),
}
