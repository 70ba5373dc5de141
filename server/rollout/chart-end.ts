import { setEndpoints } from '../domains/index.ts'
import type { ChartPlace } from '../engines/index.ts'
import { findDeployedRelease, findReleaseOf } from '../releases/index.ts'
import { findService } from '../services/index.ts'
import { findChartEndpoints, findRunningChart } from './chart-traffic.ts'
import { type Recipe, type Work, whileUnreachable } from './recipe.ts'

/** A chart that may have been installed with more rights is removed with these. */
async function placeOf({ database }: Recipe, { target, request }: Work): Promise<ChartPlace> {
  const { service_id: service } = target
  const versions = await Promise.all([findService(database, service), findDeployedRelease(database, service)])
  return {
    service,
    environment: request.environment_id,
    displayName: target.name,
    isClusterWide: versions.some((one) => one?.kind === 'helm' && mayLeave(one.settings)),
  }
}

const mayLeave = (settings: object): boolean => Object(settings).allow_cluster_wide_resources === true

/** Stops, uninstalls or deletes a chart. An engine without charts has nothing of it. */
export async function endChart(
  options: Recipe,
  work: Work,
  action: 'STOP' | 'DELETE' | 'UNINSTALL',
  signal: AbortSignal,
): Promise<void> {
  const { charts } = options.engine
  if (!charts) return
  const attempt = { signal, output: work.report }
  const place = await placeOf(options, work)
  await drainChart(options, work, signal)
  const keepsVolumes = work.target.stack_action === 'KEEP_VOLUMES'
  await whileUnreachable(options, signal, work.report, () =>
    action === 'STOP' ? charts.scaleToZero(place, attempt) : charts.uninstall(place, keepsVolumes, attempt),
  )
  if (keepsVolumes) work.report.line('Its volumes stay on the cluster, as requested.', 'warning')
}

/** Restores the previous version of a chart after a failed or cancelled deployment. */
export async function restoreChart(options: Recipe, work: Work, signal: AbortSignal): Promise<void> {
  const { charts } = options.engine
  const { request, target, report } = work
  if (!charts || (request.action !== 'DEPLOY' && request.action !== 'RESTART')) return
  const attempt = { signal, output: report }
  const place = await placeOf(options, work)
  const failed = await findReleaseOf(options.database, target.service_id, request.id)
  await charts.restore(place, failed?.id, attempt)
  await returnTraffic(options, work, signal)
  const service = await findService(options.database, target.service_id)
  // A chart that was stopped stays so.
  if (service?.release_id === null) await charts.scaleToZero(place, attempt)
}

/** Waits, within the drain time, until the pods of the public ports have no open request. */
async function drainChart(options: Recipe, { target, report }: Work, signal: AbortSignal): Promise<void> {
  const service = await findService(options.database, target.service_id)
  if (service?.kind !== 'helm') return
  const { ports } = service.settings
  await whileUnreachable(options, signal, report, async () => {
    const endpoints = await findChartEndpoints(options, service.id, ports, signal)
    const addresses = endpoints.map(({ address, port }) => ({ address, port }))
    if (addresses.length > 0) await options.router.drained(addresses, options.drainMs, signal)
  })
}

/** Leads the ports to the pods of the version that runs again, or nowhere. */
async function returnTraffic(options: Recipe, { target, context }: Work, signal: AbortSignal): Promise<void> {
  const { service_id: id } = target
  const running = await findRunningChart(options.database, id)
  const endpoints = await findChartEndpoints(options, id, running?.settings.ports ?? [], signal)
  await context.fenced((sql) => setEndpoints(sql, id, running?.id ?? null, endpoints, options.clock.now()))
  await options.routes.apply(signal)
}
