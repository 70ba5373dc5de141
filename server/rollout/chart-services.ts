import { type ChartService, EngineError, type EngineOf, type RunsCharts } from '../engines/index.ts'
import { AppError } from '../lib/error.ts'
import type { ServiceRow } from '../services/index.ts'

/**
 * Lists the Kubernetes Services of a chart. Returns none on a cluster that runs no charts. Throws
 * AppError if the cluster does not answer.
 */
export type ListChartServices = (service: ServiceRow, signal: AbortSignal) => Promise<readonly ChartService[]>

export const createListChartServices =
  ({ engineOf }: { readonly engineOf: EngineOf<RunsCharts> }): ListChartServices =>
  async ({ id, environment_id, name, cluster_engine }, signal) => {
    const charts = cluster_engine === null ? undefined : engineOf({ engine: cluster_engine }).charts
    if (!charts) return []
    const place = { service: id, environment: environment_id, displayName: name, isClusterWide: false }
    try {
      return await charts.listServices(place, signal)
    } catch (cause) {
      if (!(cause instanceof EngineError)) throw cause
      throw new AppError('unavailable', `The cluster of "${name}" did not answer: ${cause.message}.`, { cause })
    }
  }
