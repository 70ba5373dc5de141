import { isStackKind } from '@quayside/contract/services/kinds.ts'
import type { ServiceRow } from '../services/index.ts'
import { listLastPlans, type OpenPlan, toRecord } from '../stacks/index.ts'
import { changesSincePlan, type PlanChangesOptions } from './plan-changes.ts'

/** Characters of the resources of all plans in one answer. The counts include all resources. */
const mostText = 2_000_000

/** Returns the newest plans that were not applied, by the id of their stack. */
export async function readStackPlans(options: PlanChangesOptions, services: readonly ServiceRow[]) {
  const stacks = new Map(services.filter(({ kind }) => isStackKind(kind)).map((stack) => [stack.id, stack]))
  if (stacks.size === 0) return new Map<string, ReturnType<typeof toStackPlan>>()
  const plans = (await listLastPlans(options.database, [...stacks.keys()])).filter(isOpen)
  const left = { text: mostText }
  const shown: [string, ReturnType<typeof toStackPlan>][] = []
  for (const plan of plans) {
    const service = stacks.get(plan.service_id)
    if (service) shown.push([service.id, toStackPlan(plan, await changesSincePlan(options, service, plan), left)])
  }
  return new Map(shown)
}

const isOpen = ({ action, status }: OpenPlan): boolean => action === 'PLAN' || status !== 'SUCCESS'

/** Returns a plan as a dry run shows it. Takes the text of its resources from what is `left`. */
function toStackPlan(row: OpenPlan, changed_since: readonly string[], left: { text: number }) {
  const { plan, commit } = row
  const resources = plan.resources.filter((resource) => {
    left.text -= JSON.stringify(resource).length
    return left.text > 0
  })
  return { run: toRecord(row), ...plan, resources, is_current: changed_since.length === 0, changed_since, commit }
}
