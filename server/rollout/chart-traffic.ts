import type { Database } from '../database/index.ts'
import { setEndpoints } from '../domains/index.ts'
import { type ChartPort, type Endpoint, withChartEndpoints } from '../engines/index.ts'
import { findRelease, type ReleaseRow } from '../releases/index.ts'
import { findService } from '../services/index.ts'
import type { Recipe, Work } from './recipe.ts'

const lookMs = 250

type Ports = readonly ChartPort[]

/** Returns the ready pods to which public ports of a chart lead. Throws EngineError. */
export async function findChartEndpoints(
  { engine }: Pick<Recipe, 'engine'>,
  service: string,
  ports: Ports,
  signal: AbortSignal,
): Promise<readonly Endpoint[]> {
  if (ports.length === 0) return []
  const seen = withChartEndpoints(await engine.observe(service, signal), ports)
  return seen.state === 'absent' ? [] : seen.replicas.flatMap(({ endpoints }) => endpoints)
}

/** Returns the running version of a chart. Undefined if it is stopped, or was never deployed. */
export async function findRunningChart(
  database: Database,
  id: string,
): Promise<(ReleaseRow & { readonly kind: 'helm' }) | undefined> {
  const service = await findService(database, id)
  const release = service?.release_id ? await findRelease(database, service.release_id) : undefined
  return release?.kind === 'helm' ? release : undefined
}

/**
 * Leads the ports of the running version to the pods that are ready, until the signal is aborted.
 * Kubernetes replaces pods one after the other while a new version is installed, and a port whose
 * Service has a new name then already leads to that of the new version.
 */
export async function followChartPods(options: Recipe, work: Work, next: Ports, signal: AbortSignal): Promise<void> {
  const { database, engine, clock, routes } = options
  const id = work.target.service_id
  const running = await findRunningChart(database, id)
  if (!running || running.settings.ports.length === 0) return
  let last = ''
  while (!signal.aborted) {
    try {
      const seen = (await engine.observeAll(signal)).get(id) ?? { state: 'absent' as const }
      const endpoints = eitherOf([running.settings.ports, next].map((ports) => withChartEndpoints(seen, ports)))
      const words = JSON.stringify(endpoints)
      if (words !== last) {
        await work.context.fenced((sql) => setEndpoints(sql, id, running.id, endpoints, clock.now()))
        await routes.apply(signal)
        last = words
      }
    } catch (error) {
      if (!signal.aborted) options.log.debug({ err: error, serviceId: id }, 'the pods of a chart are followed later')
    }
    await clock.sleep(lookMs, signal).catch(() => {})
  }
}

/** Returns the endpoints of the first of these that has some, for each port. Pure. */
function eitherOf(seen: readonly ReturnType<typeof withChartEndpoints>[]): readonly Endpoint[] {
  const [first = [], second = []] = seen.map((one) =>
    one.state === 'absent' ? [] : one.replicas.flatMap(({ endpoints }) => endpoints),
  )
  const known = new Set(first.map(({ of }) => of?.name))
  return [...first, ...second.filter(({ of }) => !known.has(of?.name))]
}

/** Returns a warning for each port that no pod serves yet. Pure. */
export const idlePorts = (ports: Ports, endpoints: readonly Endpoint[]): readonly string[] =>
  ports
    .filter(({ name }) => !endpoints.some(({ of }) => of?.name === name))
    .map(({ name }) => `Port "${name}" leads nowhere: no pod with its labels is ready. It follows once there is one.`)
