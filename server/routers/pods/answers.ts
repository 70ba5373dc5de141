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
