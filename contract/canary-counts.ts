/** How the requests to a new version that is being tried out ended, in one router process. */
export interface CanaryCount {
  /** Identifies the process. */
  readonly source: string
  readonly service: string
  readonly release: string
  /** The answered and the failed requests since the process knows the version. */
  readonly requests: number
  /** The ones with a status of 500 or above, or without a whole answer. */
  readonly failed: number
  /** The ones that did not fail, but began later than the limit of the route. */
  readonly slow: number
}

/** Whether a value is a count that can be true. */
export function isCanaryCount(value: unknown): value is CanaryCount {
  const { source, service, release, requests, failed, slow } = Object(value)
  const areNames = [source, service, release].every((name) => typeof name === 'string' && name.length <= 64)
  return areNames && [requests, failed, slow].every(isNumber) && failed + slow <= requests
}

const isNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
