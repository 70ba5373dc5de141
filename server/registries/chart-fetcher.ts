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

/** A chart that another chart names, by the address of its repository: `https://…` or `oci://…`. */
export interface ChartDependency {
  readonly repository: string
  readonly name: string
  readonly version: string
}

/** Returns a function that fetches charts of public repositories, without credentials. */
export const createDependencyFetcher =
  (registries: () => Pick<ReturnType<typeof createRegistries>, 'charts'>) =>
  ({ repository: url, name, version }: ChartDependency, signal: AbortSignal): Promise<Buffer> => {
    const isPacked = url.startsWith('oci://')
    const opened = {
      ...{ name: url, config: {}, secrets: {} },
      kind: isPacked ? 'OCI_GENERIC_CR' : 'HTTPS',
      url: isPacked ? url.replace('oci:', schemeOf(url)) : url,
    }
    return registries().charts.fetch(opened, { name, version }, signal)
  }

/** Registries on the machine itself have no certificate, as Docker and Helm know them. */
const schemeOf = (url: string): 'http:' | 'https:' =>
  /^oci:\/\/(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(?:[:/]|$)/.test(url) ? 'http:' : 'https:'
