import { everyOne } from '../lib/every-one.ts'
import { leaveService, mayRefuse, refusalOf, updateTarget } from '../requests/index.ts'
import { findService } from '../services/index.ts'
import { CanceledError } from '../workflows/index.ts'
import { deployService } from './deploy-service.ts'
import { endService, removeLines } from './end-service.ts'
import { startTargets } from './outcome-store.ts'
import { Preparations } from './preparations.ts'
import type { Recipe, Work } from './recipe.ts'
import { finishTarget, settle } from './settle.ts'

/**
 * Runs the stages in order, in each first all builds, then all starts. Returns false after a
 * failure or a cancel; later stages are skipped then.
 */
export async function runStages(options: Recipe, works: readonly Work[]): Promise<boolean> {
  const refused = await leaveOut(options, works)
  const stages = stagesOf(works.filter((work) => !refused.has(work)))
  const beside: Beside = { retiring: [], preparations: new Preparations(options) }
  beside.preparations.ground(stages[0] ?? [])
  let healthy = true
  try {
    for (const [index, stage] of stages.entries()) {
      if (healthy) healthy = await runStage(options, stage, stages[index + 1] ?? [], beside)
      else await skipStage(options, stage, beside)
    }
  } finally {
    await beside.preparations.end()
    await Promise.allSettled(beside.retiring)
  }
  return healthy
}

/** Work that runs beside the stages. */
interface Beside {
  /** Previous versions end during the next stages, which do not depend on it. */
  readonly retiring: Promise<void>[]
  readonly preparations: Preparations
}

async function skipStage(options: Recipe, stage: readonly Work[], { preparations }: Beside): Promise<void> {
  await preparations.end()
  await everyOne(stage.map((work) => skip(options, work)))
}

/**
 * Skips services that the cluster cannot run, with the reason. All other services are
 * deployed.
 */
async function leaveOut(options: Recipe, works: readonly Work[]): Promise<ReadonlySet<Work>> {
  const refused = new Set<Work>()
  for (const work of works) {
    if (work.request.action !== 'DEPLOY' || !mayRefuse(options.engine.capabilities, work.target.kind)) continue
    const service = await findService(options.database, work.target.service_id)
    const reason = service && refusalOf(options, service)
    if (!reason) continue
    work.report.line(reason, 'warning')
    await skip(options, work, reason)
    refused.add(work)
  }
  return refused
}

/** Returns the stages in the order in which they act. Stop and delete run in reverse. */
function stagesOf(works: readonly Work[]): Work[][] {
  const stages = [...Map.groupBy(works, ({ target }) => target.stage_order)].sort(([a], [b]) => a - b)
  const action = works[0]?.request.action
  if (action !== 'DEPLOY' && action !== 'RESTART') stages.reverse()
  return stages.map(([, members]) => members)
}

async function runStage(
  options: Recipe,
  stage: readonly Work[],
  next: readonly Work[],
  { retiring, preparations }: Beside,
): Promise<boolean> {
  const action = stage[0]?.request.action
  await begin(options, stage)
  if (action !== 'DEPLOY' && action !== 'RESTART') {
    const ended = stage.map(async (work) => {
      const isEnded = await settle(options, work, () => endService(options, work, work.request.action as Ending))
      if (isEnded) await removeLines(options, work)
      return isEnded
    })
    return (await everyOne(ended)).every(Boolean)
  }
  const parts = stage.map((work) => {
    const begun = Promise.withResolvers<void>()
    const among = {
      prepared: (one: Work) => preparations.of(one),
      whenBegun: begun.resolve,
      beside: (ending: Promise<void>) => void retiring.push(ending),
    }
    return { service: deployService(options, work, among), begun }
  })
  const built = await everyOne(
    parts.map(async (part) => ({ part, isBuilt: (await part.service.next()).done !== true })),
  )
  const ready = built.filter((one) => one.isBuilt).map(({ part }) => part)
  const starting = ready.map(({ service, begun }) => ({
    isUp: endOf(service).finally(begun.resolve),
    begun: begun.promise,
  }))
  const allBegun = Promise.all(starting.map(({ begun }) => begun))
  const endPreparing = ready.length === stage.length ? preparations.beginAfter(allBegun, next, stage) : () => {}
  try {
    const started = await everyOne(starting.map(({ isUp }) => isUp))
    return ready.length === stage.length && started.every(Boolean)
  } finally {
    endPreparing()
  }
}

/** Marks the services of the stage as in progress, except those that ended before a crash. */
async function begin({ clock }: Recipe, stage: readonly Work[]): Promise<void> {
  const [first] = stage
  if (!first || first.context.signal.aborted) return
  const { context, request } = first
  const services = stage.map(({ target }) => target.service_id)
  await context.fenced((sql) => startTargets(sql, request.id, services, clock.now()))
}

/** Runs a deployment from its release to its end. */
const endOf = async (service: AsyncGenerator<'built', boolean>): Promise<boolean> =>
  (await service.next()).value === true

type Ending = 'STOP' | 'DELETE' | 'UNINSTALL'

/**
 * Skips a service because an earlier stage failed, the request was cancelled before its turn, or
 * the cluster cannot run it.
 */
async function skip({ clock }: Recipe, { target, step, context }: Work, reason?: string): Promise<void> {
  const canceled = context.signal.aborted && context.signal.reason instanceof CanceledError
  await step(
    `${target.service_id}/SKIP`,
    () =>
      context.fenced(async (sql) => {
        const now = clock.now()
        if (canceled) return finishTarget(sql, { target, state: 'CANCELED', now })
        const left = { state: target.former_state, status: 'SKIPPED' as const, finished_at: now }
        await updateTarget(sql, target, { ...left, ...(reason === undefined ? {} : { reason }) })
        await leaveService(sql, target, { event: 'skipped', state: target.former_state })
      }),
    { evenIfCanceled: true },
  )
}
