import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

// The reads of numbers about traffic. The page asks again, because no event reports them.

/** The ranges of the page, with their lengths in seconds and how often they are read. */
export const trafficRanges = {
  '1h': { words: '1 hour', short: '1 h', seconds: 3_600, everyMs: 10_000 },
  '24h': { words: '24 hours', short: '24 h', seconds: 86_400, everyMs: 60_000 },
  '7d': { words: '7 days', short: '7 d', seconds: 604_800, everyMs: 300_000 },
  '30d': { words: '30 days', short: '30 d', seconds: 2_592_000, everyMs: 300_000 },
} as const

export type TrafficRange = keyof typeof trafficRanges
export type ServiceTraffic = Awaited<ReturnType<typeof api.getServiceTraffic>>
export type TrafficPoint = ServiceTraffic['points'][number]

/** The kinds whose services the router carries traffic to. */
export const routedKinds: readonly string[] = ['application', 'container', 'helm']

/** Pure: the range that an address names. */
export const rangeIn = (text: unknown): TrafficRange =>
  typeof text === 'string' && Object.hasOwn(trafficRanges, text) ? (text as TrafficRange) : '1h'

export const serviceTraffic = (serviceId: string, range: TrafficRange) =>
  queryOptions({
    queryKey: ['traffic', serviceId, range],
    queryFn: () => {
      const from = Math.floor(Date.now() / 1000) - trafficRanges[range].seconds
      return api.getServiceTraffic({ serviceId, query: { fromTimestamp: String(from) } })
    },
    refetchInterval: trafficRanges[range].everyMs,
    staleTime: 5_000,
  })

/** The services of an environment with traffic in the last five minutes. */
export const environmentTraffic = (environmentId: string) =>
  queryOptions({
    queryKey: ['environment', environmentId, 'traffic'],
    queryFn: () => api.listEnvironmentTraffic({ environmentId }),
    refetchInterval: 15_000,
    staleTime: 5_000,
  })
