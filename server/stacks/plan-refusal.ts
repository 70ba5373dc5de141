import type { OpenPlan } from './run-record-store.ts'

const advice = 'Deploy the stack with the action PLAN to see a new plan.'

/** Pure: returns why the plan of a run cannot be applied. */
export function planRefusal({ id, status, is_kept, plan, changed_by }: OpenPlan): string | undefined {
  if (status !== 'SUCCESS') return `The plan of run ${id} is not applied, because the run has the status ${status}.`
  if (!plan.has_changes) return `The plan of run ${id} changes nothing, so nothing is applied.`
  if (changed_by) {
    const by = `run ${changed_by.id} (${changed_by.action}) has changed the state since`
    return `The plan of run ${id} is not applied, because ${by}. ${advice}`
  }
  return is_kept ? undefined : `The plan of run ${id} is no longer kept, because a newer plan was made. ${advice}`
}

/** Pure: returns why a plan is not applied after these changes. Undefined without changes. */
export const staleText = ({ id }: Pick<OpenPlan, 'id'>, changes: readonly string[]): string | undefined =>
  changes.length === 0
    ? undefined
    : `The plan of run ${id} is not applied, because this changed since it was made: ${changes.join(', ')}. ${advice}`
