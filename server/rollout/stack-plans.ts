import { isStackKind } from '@quayside/contract/services/kinds.ts'
import type { Database } from '../database/index.ts'
import type { ServiceRow } from '../services/index.ts'
import { type LastPlan, listLastPlans, toRecord } from '../stacks/index.ts'

/** Returns the newest plans that were not applied, by the id of their stack. */
export async function readStackPlans(database: Database, services: readonly ServiceRow[]) {
  const stacks = services.filter(({ kind }) => isStackKind(kind))
  const plans =
    stacks.length === 0
      ? []
      : await listLastPlans(
          database,
          stacks.map(({ id }) => id),
        )
  const versions = new Map(stacks.map(({ id, config_version }) => [id, config_version]))
  return new Map(
    plans.flatMap((plan) => {
      const shown = toStackPlan(plan, versions.get(plan.service_id))
      return shown ? [[plan.service_id, shown] as const] : []
    }),
  )
}

/** Pure: returns a plan as a dry run shows it. Undefined if it was applied. */
export function toStackPlan(row: LastPlan, configVersion: number | undefined) {
  const isOpen = row.action === 'PLAN' || row.status !== 'SUCCESS'
  if (!isOpen) return undefined
  return { run: toRecord(row), ...row.plan, is_current: row.config_version === configVersion, commit: row.commit }
}
