import { number, type Variables } from './config-forms.ts'
import type { Config } from './config-object.ts'
import { type CreationLimits, creationLimitOf, limitsFrom } from './limits/index.ts'

/** Reads how many objects an organization, or a part of it, may have. */
export const creationLimits = (variables: Variables): CreationLimits =>
  limitsFrom((kind) => {
    const { setting, usual } = creationLimitOf(kind)
    return number(variables, setting, usual, 1, 1_000_000)
  })

/** An organization has ten times the budget of a token, and none if tokens have no limit. */
export function rateLimits(
  variables: Variables,
): Pick<Config, 'rateLimit' | 'rateBurst' | 'organizationRateLimit' | 'organizationRateBurst'> {
  const rateLimit = number(variables, 'QUAYSIDE_RATE_LIMIT', 100, 0, 1_000_000)
  const rateBurst = number(variables, 'QUAYSIDE_RATE_BURST', 500, 1, 1_000_000)
  const most = 10_000_000
  return {
    rateLimit,
    rateBurst,
    organizationRateLimit: number(variables, 'QUAYSIDE_ORGANIZATION_RATE_LIMIT', 10 * rateLimit, 0, most),
    organizationRateBurst: number(variables, 'QUAYSIDE_ORGANIZATION_RATE_BURST', 10 * rateBurst, 1, most),
  }
}
