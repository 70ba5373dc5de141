import { EngineError } from '../engines/index.ts'
import { failpoint } from '../lib/failpoint.ts'
import { findRelease, type ReleaseRow, startDeadlineSeconds } from '../releases/index.ts'
import { enterState } from '../requests/index.ts'
import { bringUp, type HealthyRelease } from './bring-up.ts'
import { explainLate, type Recipe, type Work } from './recipe.ts'
import { startInTurn } from './turn.ts'

/** A frozen release, and the seconds in which it must become healthy. */
export interface Frozen {
  readonly release: ReleaseRow
  readonly deadline: number
}

/** Loads a release that this or an earlier process made. */
export async function loadFrozen({ database }: Recipe, { request, report }: Work, id: string): Promise<Frozen> {
  report.enter(request.action === 'RESTART' ? 'Restart' : 'Deploy')
  const release = await findRelease(database, id)
  if (!release) throw new Error(`release ${id} is gone`)
  return { release, deadline: startDeadlineSeconds(release) }
}

/**
 * Step `DEPLOYMENT`, once the service has its turn: starts the release and waits until every
 * replica is healthy. Calls `whenBegun` when the engine begins the start.
 */
export async function startHealthy(
  options: Recipe,
  work: Work,
  { release, deadline }: Frozen,
  whenBegun: () => void,
): Promise<HealthyRelease> {
  const { target, step, context, request } = work
  const id = target.service_id
  const state = request.action === 'RESTART' ? 'RESTARTING' : 'DEPLOYING'
  const start = async ({ signal }: { readonly signal: AbortSignal }): Promise<HealthyRelease> => {
    await context.fenced((sql) => enterState(sql, target, state, { release_id: release.id }))
    await options.endRepair(id)
    return bringUp(options, work, { frozen: release, deadline, whenBegun }, signal)
  }
  const healthy = await startInTurn(options, work, () =>
    explainLate(
      step(`${id}/DEPLOYMENT`, start, { deadlineSeconds: deadline + 120 }),
      () => new EngineError('not-ready', `The engine had not started it after ${deadline + 120} s. Deploy again.`),
    ),
  )
  failpoint('healthy.recorded')
  return healthy
}
