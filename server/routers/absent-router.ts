import type { Route } from '@quayside/contract/routes.ts'
import type { Clock } from '../lib/clock.ts'
import type { Router } from './router.ts'
import { RoutesRefusedError } from './routes-refused.ts'

const reason =
  'its cluster has no domain of its own, and this installation has no router on its machine. ' +
  'PUT /cluster/{clusterId}/dnsProvider with a domain that leads to the cluster, and deploy the cluster'

/** The router of a machine without one. It refuses every route that leads somewhere. */
export const createAbsentRouter = (clock: Clock): Router => ({
  countsRequests: () => false,
  sharesRequests: () => false,
  usesPlatformTls: () => false,
  replaceAll: async (routes: readonly Route[]) => {
    const leading = routes.filter(({ endpoints }) => endpoints.length > 0)
    if (leading.length > 0) throw new RoutesRefusedError(new Map(leading.map(({ service }) => [service, reason])))
    return []
  },
  drained: async () => 0,
  wakes: async (_, timeoutMs, signal) => {
    await clock.sleep(timeoutMs, signal)
    return { sequence: 0, services: [] }
  },
  activity: async () => new Map(),
  takeCounts: async () => [],
  canaryCounts: async () => [],
  takeLines: async () => [],
  portAddresses: async () => [],
  certificates: async () => [],
  renew: async () => {},
  listFindings: async () => [],
})
