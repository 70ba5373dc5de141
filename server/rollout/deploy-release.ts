import { isTaskKind } from '@quayside/contract/services/kinds.ts'
import { keptImages } from '../disk/index.ts'
import { listServiceRoutes, type RouteRow, setEndpoints } from '../domains/index.ts'
import { EngineError } from '../engines/index.ts'
import { failpoint } from '../lib/failpoint.ts'
import { insertObservation } from '../observations/index.ts'
import {
  buildOf,
  deleteRelease,
  findRelease,
  ownsItsFiles,
  type ReleaseRow,
  startDeadlineSeconds,
} from '../releases/index.ts'
import { enterState, updateTarget } from '../requests/index.ts'
import { deleteServiceSecret, findService, formerPasswordName, lockService } from '../services/index.ts'
import { bringUp, type HealthyRelease } from './bring-up.ts'
import { leavePublicPort } from './database-place.ts'
import { drainOthers } from './drain.ts'
import { setServing } from './outcome-store.ts'
import { explainLate, type Recipe, type Work, whileUnreachable } from './recipe.ts'
import { finishTarget } from './settle.ts'
import { stillHealthy } from './still-healthy.ts'
import { inTurn } from './turn.ts'

/** Clean-up after a success must not keep the environment from its next request for long. */
const retireSeconds = 120

/** The router takes a table within milliseconds; it may be being started anew. */
const routerSeconds = 120

/**
 * From a release with an image to traffic: start it, wait until it is healthy, move traffic, and only then say DEPLOYED. The
 * former release is ended after that: see retireFormer. `whenBegun` is told when the engine begins it.
 */
export async function deployRelease(
  options: Recipe,
  work: Work,
  releaseId: string,
  whenBegun: () => void = () => {},
): Promise<void> {
  const { target, step, context, report, request } = work
  const id = target.service_id
  const restarts = request.action === 'RESTART'
  report.enter(restarts ? 'Restart' : 'Deploy')
  const release = await findRelease(options.database, releaseId)
  if (!release) throw new Error(`release ${releaseId} is gone`)
  const deadline = startDeadlineSeconds(release)
  const state = restarts ? 'RESTARTING' : 'DEPLOYING'
  const turn = { slots: options.slots.deployments, name: 'DEPLOYMENT_QUEUEING' } as const
  const healthy = await inTurn(work, turn, () =>
    explainLate(
      step(
        `${id}/DEPLOYMENT`,
        async ({ signal }) => {
          await context.fenced((sql) => enterState(sql, target, state, { release_id: releaseId }))
          await options.endRepair(id)
          return bringUp(options, work, { frozen: release, deadline, whenBegun }, signal)
        },
        { deadlineSeconds: deadline + 120 },
      ),
      () => new EngineError('not-ready', `The engine had not started it after ${deadline + 120} s. Deploy again.`),
    ),
  )
  failpoint('healthy.recorded')
  const isKept = healthy.release !== releaseId
  const endpoints = isKept ? healthy.endpoints : await stillHealthy(options, work, healthy, deadline)
  await explainLate(
    step(
      `${id}/ROUTER_DEPLOYMENT`,
      ({ signal }) => publish(options, work, { release: healthy.release, endpoints, isKept }, signal),
      {
        deadlineSeconds: routerSeconds,
      },
    ),
    () =>
      new EngineError('unreachable', `The router did not take the new routes within ${routerSeconds} s. Deploy again.`),
  )
  failpoint('finish.before')
  await step(`${id}/FINISH`, () => finish(options, work, { release, serving: healthy.release }), {
    evenIfCanceled: true,
  })
  failpoint('finish.after')
}

/** Moves traffic: the rows first, then the router. */
async function publish(
  options: Recipe,
  { target, context, report }: Work,
  { release, endpoints, isKept }: Pick<HealthyRelease, 'release' | 'endpoints'> & { readonly isKept: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { service_id: id } = target
  await context.fenced((sql) =>
    Promise.all([lockService(sql, id), setEndpoints(sql, id, release, endpoints, options.clock.now())]),
  )
  failpoint('route.recorded')
  const taken = await whileUnreachable(options, signal, report, () => options.routes.apply(signal))
  failpoint('route.applied')
  if (taken.length > 0) await checkPorts(options, id, taken)
  if (!isKept) report.line('Traffic goes to the new version.')
}

/** Throws where one of the service's ports is among those that other programs have. */
async function checkPorts({ database }: Recipe, serviceId: string, taken: readonly number[]): Promise<void> {
  const routes = await listServiceRoutes(database, serviceId)
  const lost = routes.find(({ public_port }) => public_port !== null && taken.includes(public_port))
  if (lost) throw new EngineError('refused', takenText(lost))
}

const takenText = ({ public_port, port_name }: RouteRow): string =>
  `Port ${public_port} of this machine, where port ${port_name} is to answer, is in use by another program. End that program, or give the port another external_port of the range of public ports, and deploy again.`

/** A release that was not needed is forgotten: what runs has its settings, variables and image. */
async function finish(
  options: Recipe,
  work: Work,
  { release, serving }: { readonly release: ReleaseRow; readonly serving: string },
): Promise<void> {
  const { request, target, context, report } = work
  const now = options.clock.now()
  const isKept = serving !== release.id
  const state = request.action === 'RESTART' ? 'RESTARTED' : 'DEPLOYED'
  await context.fenced(async (sql) => {
    await Promise.all([finishTarget(sql, { target, state, now }), setServing(sql, { ...release, id: serving }, now)])
    if (isKept) {
      await updateTarget(sql, target, { release_id: serving })
      return deleteRelease(sql, release.id)
    }
    // A copied database has taken its own password: it was asked with it.
    if (ownsItsFiles(release)) await deleteServiceSecret(sql, target.service_id, formerPasswordName)
    await leavePublicPort(sql, release)
    const wish = { id: target.service_id, release_id: release.id }
    await insertObservation(sql, wish, { state: 'running', release: release.id, replicas: [] }, now)
  })
  report.enter(request.action === 'RESTART' ? 'Restarted' : 'Deployed')
  report.line(isKept ? 'Nothing changed: the version that runs goes on, and nothing was restarted.' : 'It is up.')
}

/**
 * Drains and ends every other release of a service whose end is written: whatever happens here changes that no more. What is left
 * is found by the observer.
 */
export async function retireFormer(options: Recipe, work: Work): Promise<void> {
  const id = work.target.service_id
  await work
    .step(`${id}/RETIRE`, ({ signal }) => retireOthers(options, work, signal), {
      deadlineSeconds: retireSeconds,
      evenIfCanceled: true,
    })
    .catch((error: unknown) => {
      options.log.warn({ err: error, serviceId: id }, 'the former release could not be ended yet')
    })
}

async function retireOthers(options: Recipe, { target, report }: Work, signal: AbortSignal): Promise<void> {
  const id = target.service_id
  const service = await findService(options.database, id)
  const current = service?.release_id
  if (!current) return
  // Runs of a former version of a job end by themselves.
  if (!isTaskKind(target.kind)) await endOthers(options, report, { id, current }, signal)
  // What is no longer built leaves its images to whoever keeps the disk.
  if (buildOf(service)) await options.builder.prune(id, await keptImages(options.database, id), signal)
}

async function endOthers(
  options: Recipe,
  report: Work['report'],
  { id, current }: { readonly id: string; readonly current: string },
  signal: AbortSignal,
): Promise<void> {
  const open = await drainOthers(options, report, { id, keep: current }, signal)
  if (open > 0) report.line(`${open} request(s) on the former version were still open and are ended.`, 'warning')
  await whileUnreachable(options, signal, report, () => options.engine.retire(id, current, { signal, output: report }))
}
