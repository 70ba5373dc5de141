import type { Database } from '../database/index.ts'
import type { createRegistries } from './registries.ts'

/** A version of a chart in a Helm repository, by the id of the repository. */
export interface WantedChart {
  readonly repository: string
  readonly name: string
  readonly version: string
}

/** Returns a function that fetches charts with the credentials of their repository. */
export const createChartFetcher =
  (registries: () => Pick<ReturnType<typeof createRegistries>, 'helmRepositories' | 'charts'>) =>
  async (database: Database, organizationId: string, chart: WantedChart, signal: AbortSignal): Promise<Buffer> => {
    const { helmRepositories, charts } = registries()
    const repository = await helmRepositories.open(database, organizationId, chart.repository)
    return charts.fetch(repository, chart, signal)
  }
