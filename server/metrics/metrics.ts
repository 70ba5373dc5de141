import type { Database } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { exposition, truncated } from './exposition.ts'
import { countTotals, listTotals, mostServices } from './metrics-store.ts'
import { createPlatformFamilies } from './platform-families.ts'
import { createProcessFamilies, diskFamilies } from './process-families.ts'
import { type ServiceTotal, serviceFamilies } from './service-families.ts'

export interface MetricsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly version: string
  readonly dataDirectory: string
}

/** Figures in the text format of Prometheus. */
export interface Metrics {
  /** Returns the figures of this server, of the platform, and of the services of everybody. */
  all(): Promise<string>
  /** Returns the figures of the services of an organization that are visible. */
  ofOrganization(id: string, isVisible: (total: ServiceTotal) => boolean): Promise<string>
}

export function createMetrics({ database, clock, version, dataDirectory }: MetricsOptions): Metrics {
  const processFamilies = createProcessFamilies(version)
  const platformFamilies = createPlatformFamilies({ database, clock })
  return {
    all: async () =>
      exposition([
        ...processFamilies(),
        ...(await diskFamilies(dataDirectory)),
        ...(await platformFamilies()),
        ...serviceFamilies(await listTotals(database)),
        truncated('services', Math.max((await countTotals(database)) - mostServices, 0)),
      ]),
    ofOrganization: async (id, isVisible) => {
      const totals = (await listTotals(database, id)).filter(isVisible)
      const shown = totals.slice(0, mostServices)
      return await exposition([...serviceFamilies(shown), truncated('services', totals.length - shown.length)])
    },
  }
}
