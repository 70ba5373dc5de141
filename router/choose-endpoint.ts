import { monotonic } from './clock.ts'
import type { Endpoint } from './endpoint.ts'
import { limits } from './limits.ts'
import type { Target, Trial } from './target.ts'

/** How an endpoint is chosen for one request. */
export interface Choice {
  /** The ids of endpoints at which its client stays, the nearest first. */
  readonly wanted: readonly string[]
  readonly isRetry: boolean
  /** Another number for each request, so that equal endpoints take turns. */
  readonly turn: number
}

/**
 * Returns the endpoint of the version whose turn it is, or of the other one if that has none. A
 * client with a cookie stays at its version. A retry goes to the previous version if it answers, so
 * that a client notices little of a new version that fails.
 */
export function chooseVersion(
  { endpoints }: Target,
  trial: Trial,
  { wanted, isRetry, turn }: Choice,
): Endpoint | undefined {
  const now = monotonic()
  const own = usable(endpoints, wanted) ?? usable(trial.endpoints, wanted)
  if (own && !isRetry) return own
  if (isRetry) {
    const previous = leastBusy(endpoints, turn, now)
    return previous && previous.asideUntil <= now ? previous : leastBusy([...endpoints, ...trial.endpoints], turn, now)
  }
  const [first, second] = trial.canary.takesNext() ? [trial.endpoints, endpoints] : [endpoints, trial.endpoints]
  return leastBusy(first, turn, now) ?? leastBusy(second, turn, now)
}

/** Returns the first of the wanted endpoints that is neither full nor avoided. */
export function usable(endpoints: readonly Endpoint[], wanted: readonly string[]): Endpoint | undefined {
  for (const one of wanted) {
    const endpoint = endpoints.find(({ id }) => id === one)
    if (endpoint && endpoint.open < limits.openPerEndpoint && endpoint.asideUntil <= monotonic()) return endpoint
  }
  return undefined
}

/**
 * Returns the endpoint with the fewest open requests that is neither full nor avoided. Returns an
 * avoided one if there is no other.
 */
export function leastBusy(endpoints: readonly Endpoint[], turn: number, now: number): Endpoint | undefined {
  let best: Endpoint | undefined
  let bestAside = false
  for (let index = 0; index < endpoints.length; index++) {
    const endpoint = endpoints[(index + turn) % endpoints.length]
    if (!endpoint || endpoint.open >= limits.openPerEndpoint) continue
    const aside = endpoint.asideUntil > now
    const better = !best || (bestAside && !aside) || (bestAside === aside && endpoint.open < best.open)
    if (!better) continue
    best = endpoint
    bestAside = aside
  }
  return best
}
