import {
  deleteCanary,
  listServiceRoutes,
  portAddress,
  type RouteRow,
  setEndpoints,
  unreachedText,
} from '../domains/index.ts'
import { type Endpoint, EngineError } from '../engines/index.ts'
import { failpoint } from '../lib/failpoint.ts'
import { lockService } from '../services/index.ts'
import { explainLate, type Recipe, type Report, type Work, whileUnreachable } from './recipe.ts'

/** The router accepts a table within milliseconds, unless it is restarting. */
const routerSeconds = 120

/** How long a deployment waits for the addresses that a cluster gives its ports. */
const addressMs = 60_000

/** The release that gets the traffic. `isKept`: it already has it. */
export interface Destination {
  readonly release: string
  readonly endpoints: readonly Endpoint[]
  readonly isKept: boolean
}

/** Step `ROUTER_DEPLOYMENT`: sends traffic to a healthy release. */
export const moveTraffic = (options: Recipe, work: Work, to: Destination): Promise<void> =>
  explainLate(
    work.step(`${work.target.service_id}/ROUTER_DEPLOYMENT`, ({ signal }) => publish(options, work, to, signal), {
      deadlineSeconds: routerSeconds,
    }),
    () =>
      new EngineError(
        'unreachable',
        `The router did not accept the new routes within ${routerSeconds} s. Deploy again.`,
      ),
  )

/** Moves traffic: the rows first, then the router. */
async function publish(
  options: Recipe,
  { target, context, report }: Work,
  { release, endpoints, isKept }: Destination,
  signal: AbortSignal,
): Promise<void> {
  const { service_id: id } = target
  await context.fenced((sql) =>
    Promise.all([
      lockService(sql, id),
      setEndpoints(sql, id, release, endpoints, options.clock.now()),
      deleteCanary(sql, id),
    ]),
  )
  failpoint('route.recorded')
  const taken = await whileUnreachable(options, signal, report, () => options.routes.apply(signal))
  failpoint('route.applied')
  const refusal = options.routes.refusalOf(id)
  if (refusal !== undefined) throw new EngineError('refused', `The cluster refuses a route of the service: ${refusal}.`)
  if (taken.length > 0) await checkPorts(options, id, taken)
  await reportPorts(options, id, report, signal)
  if (!isKept) report.line('Traffic goes to the new version.')
}

/**
 * Waits until the cluster has given the service's TCP and UDP ports an address. The service runs
 * without one as well, so a cluster that gives none fails no deployment.
 */
async function reportPorts(options: Recipe, id: string, report: Report, signal: AbortSignal): Promise<void> {
  const { clock, routes, database } = options
  const endMs = clock.monotonic() + addressMs
  if (routes.unreached(id).length > 0) report.line('Waiting for the addresses of its public ports.')
  while (routes.unreached(id).length > 0 && clock.monotonic() < endMs) {
    await clock.sleep(1000, signal)
    await whileUnreachable(options, signal, report, () => routes.apply(signal))
  }
  const missing = unreachedText(routes.unreached(id))
  if (missing !== undefined) report.line(`${missing} The status of the service says so until then.`, 'warning')
  for (const route of await listServiceRoutes(database, id)) {
    const at = route.outside && portAddress(route)
    if (at) report.line(`Port ${route.port_name} (${route.public_protocol}) is reached at ${at.host}:${at.port}.`)
  }
}

/** Throws if another program uses one of the service's ports. */
async function checkPorts({ database }: Recipe, serviceId: string, taken: readonly number[]): Promise<void> {
  const routes = await listServiceRoutes(database, serviceId)
  const lost = routes.find(({ public_port }) => public_port !== null && taken.includes(public_port))
  if (lost) throw new EngineError('refused', takenText(lost))
}

const takenText = ({ public_port, port_name }: RouteRow): string =>
  `Port ${public_port} of this machine, where port ${port_name} is to answer, is in use by another program. ` +
  'End that program, or give the port another external_port of the range of public ports, and deploy again.'
