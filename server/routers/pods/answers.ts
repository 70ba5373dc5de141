import type { Route } from '@quayside/contract/routes.ts'
import type { Activity } from '../router.ts'

/** Adds the traffic that several routers have counted. Pure. */
export function addActivity(counted: readonly ReadonlyMap<string, Activity>[]): ReadonlyMap<string, Activity> {
  const sums = new Map<string, Activity>()
  for (const one of counted) {
    for (const [service, { requests, open }] of one) {
      const before = sums.get(service) ?? { requests: 0, open: 0 }
      sums.set(service, { requests: before.requests + requests, open: before.open + open })
    }
  }
  return sums
}

/** Returns the routes without those of TCP and UDP ports, which the Service does not have. Pure. */
export const withoutListening = (routes: readonly Route[]): readonly Route[] =>
  routes.filter(({ listen }) => listen === undefined)

/** Returns why routes are not carried, by the id of their service. Pure. */
export const listenRefusals = (routes: readonly Route[]): ReadonlyMap<string, string> =>
  new Map(
    routes.flatMap(({ service, listen }) =>
      listen ? [[service, `the routers of the cluster listen at no ${listen.protocol} port ${listen.port}`]] : [],
    ),
  )
