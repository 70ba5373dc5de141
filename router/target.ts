import type { Route } from '@quayside/contract/routes.ts'
import type { Canary } from './canaries.ts'
import type { Endpoint } from './endpoint.ts'
import { forwardedTarget, type Place } from './places.ts'
import type { Rules } from './rules.ts'

/** A route with its live endpoints. */
export interface Target {
  readonly route: Route
  readonly place: Place
  /**
   * Whether its host name has routes by path. Requests are then matched and forwarded in normal
   * form.
   */
  readonly byPath: boolean
  readonly endpoints: readonly Endpoint[]
  /** The new version that is being tried out, with its endpoints. */
  readonly trial: Trial | undefined
  /** Undefined if the route has no rules. */
  readonly rules: Rules | undefined
}

/** The new version of a service that is being tried out. */
export interface Trial {
  readonly canary: Canary
  readonly endpoints: readonly Endpoint[]
}

/** Returns the path and query that an endpoint of the target receives. */
export const seenTarget = ({ byPath, place }: Target, target: string): string =>
  byPath ? forwardedTarget(place, target) : target
