import { AppError, notFound } from '../lib/error.ts'
import type { PlanToApply } from '../requests/index.ts'
import { findPlan, planRefusal, staleText } from '../stacks/index.ts'
import { changesSincePlan, type PlanChangesOptions } from './plan-changes.ts'

/**
 * Returns the version whose plan a request applies. Throws 400 for another commit than that of the
 * plan, 404 if the stack has no such plan, and 409 with the reason if it cannot be applied. The
 * head of the branch is looked up when the request runs.
 */
export const createPlanToApply =
  (options: PlanChangesOptions): PlanToApply =>
  async (service, { runId, commit }) => {
    const plan = await findPlan(options.database, { serviceId: service.id, runId })
    if (!plan?.release_id) {
      throw notFound('run', runId, { field: 'plan_run_id', advice: 'Name a run with the action PLAN of this stack.' })
    }
    if (commit !== undefined && commit !== plan.commit) {
      throw new AppError('invalid', `git_commit_id: the plan of run ${runId} is of the commit ${plan.commit}.`)
    }
    const changes = await changesSincePlan(options, service, plan)
    // A named commit counts, wherever the branch is.
    const relevant = commit === undefined ? changes : changes.filter((change) => change !== 'commit')
    const refused = planRefusal(plan) ?? staleText(plan, relevant)
    if (refused !== undefined) throw new AppError('conflict', refused)
    return { release: plan.release_id, stackAction: 'APPLY_PLAN' }
  }
