import { failpoint } from '../lib/failpoint.ts'
import { findRelease, type ReleaseRow } from '../releases/index.ts'
import { enterState, updateTarget } from '../requests/index.ts'
import { findService } from '../services/index.ts'
import { releaseLock, type StackAction } from '../stacks/index.ts'
import { setServing } from './outcome-store.ts'
import type { Recipe, Work } from './recipe.ts'
import { finishTarget } from './settle.ts'
import { executeStack } from './stack-execution.ts'
import { startInTurn } from './turn.ts'

export type StackRelease = ReleaseRow & { readonly kind: 'terraform' }

/**
 * Deploys the release of a stack that has its image: makes a plan, applies exactly that plan, and
 * records the end. A restart runs nothing.
 */
export async function deployStack(options: Recipe, work: Work, releaseId: string): Promise<void> {
  const { request, target, step, report } = work
  const release = await findRelease(options.database, releaseId)
  if (release?.kind !== 'terraform') throw new Error(`release ${releaseId} is gone, or not of a stack`)
  if (request.action === 'RESTART') {
    report.enter('Restart')
    report.line('Nothing of a stack runs between its deployments. Nothing is restarted.')
  } else {
    await work.context.fenced((sql) => enterState(sql, target, 'DEPLOYING'))
    // RUN, PREPARE-PLAN, PLAN, PREPARE-APPLY, APPLY
    if (target.stack_action === 'FORCE_UNLOCK') await unlockStack(options, work)
    else await startInTurn(options, work, () => executeStack(options, work, release, actionOf(work)))
  }
  failpoint('finish.before')
  await step(`${target.service_id}/FINISH`, () => finish(options, work, release), { evenIfCanceled: true })
  failpoint('finish.after')
}

const actionOf = ({ target: { stack_action } }: Work): StackAction =>
  stack_action === 'PLAN' || stack_action === 'MIGRATE_STATE' ? stack_action : 'APPLY'

/** Releases the lock of a stack whose last run was lost. */
async function unlockStack({ clock }: Recipe, { context, target, report }: Work): Promise<void> {
  const unlocked = await context.fenced((sql) => releaseLock(sql, target.service_id, clock.now()))
  report.line(unlocked ? 'The lock of its lost run is released.' : 'It is not locked.', 'warning')
}

async function finish({ clock, database }: Recipe, work: Work, release: StackRelease): Promise<void> {
  const { request, target, context, report } = work
  const now = clock.now()
  const current = await findRelease(database, release.id)
  const restarts = request.action === 'RESTART'
  await context.fenced(async (sql) => {
    await finishTarget(sql, { target, state: restarts ? 'RESTARTED' : 'DEPLOYED', now })
    await updateTarget(sql, target, { release_id: release.id })
    // A version of which only the plan was made is not the deployed one.
    const served = { ...release, commit: current?.commit ?? release.commit }
    if (target.stack_action === null || target.stack_action === 'APPLY_PLAN') await setServing(sql, served, now)
    // A destroy needs its sources, which have the backend. Its other changes are not applied yet.
    if (target.stack_action === 'MIGRATE_STATE') {
      const applied = (await findService(sql, target.service_id))?.deployed_config_version
      await setServing(sql, { ...served, config_version: applied ?? served.config_version }, now)
    }
  })
  report.enter(restarts ? 'Restarted' : 'Deployed')
  report.line(endLines[target.stack_action ?? ''] ?? 'It is deployed.')
}

const endLines: Readonly<Record<string, string>> = {
  PLAN: 'Its plan is made, and nothing is applied.',
  MIGRATE_STATE: 'Its state is moved, and nothing is applied.',
}
