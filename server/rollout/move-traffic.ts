import { listServiceRoutes, type RouteRow, setEndpoints } from '../domains/index.ts'
import { EngineError } from '../engines/index.ts'
import { failpoint } from '../lib/failpoint.ts'
import { lockService } from '../services/index.ts'
import type { HealthyRelease } from './bring-up.ts'
import { explainLate, type Recipe, type Work, whileUnreachable } from './recipe.ts'

/** The router accepts a table within milliseconds, unless it is restarting. */
const routerSeconds = 120

/** The release that gets the traffic. `isKept`: it already has it. */
export type Destination = Pick<HealthyRelease, 'release' | 'endpoints'> & { readonly isKept: boolean }

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
    Promise.all([lockService(sql, id), setEndpoints(sql, id, release, endpoints, options.clock.now())]),
  )
  failpoint('route.recorded')
  const taken = await whileUnreachable(options, signal, report, () => options.routes.apply(signal))
  failpoint('route.applied')
  const refusal = options.routes.refusalOf(id)
  if (refusal !== undefined) throw new EngineError('refused', `The cluster refuses a route of the service: ${refusal}.`)
  if (taken.length > 0) await checkPorts(options, id, taken)
  if (!isKept) report.line('Traffic goes to the new version.')
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
