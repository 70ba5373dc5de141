import { newId } from '../../../server/lib/id.ts'
import { summarizePlan } from '../../../server/stacks/index.ts'
import type { Contribution } from '../fixture.ts'

/** Adds an ended run of the stack with its plan. */
export const addStackObjects: Contribution = async ({ database, rooms, objects }) => {
  const stack = objects.more['terraformId'] ?? ''
  const runId = newId()
  const plan = summarizePlan({
    resource_changes: [{ address: 'terraform_data.one', change: { actions: ['create'], after: { input: 1 } } }],
  })
  await database`
    insert into stack_run (id, service_id, release_id, action, status, created_at, updated_at, finished_at, plan)
    values (${runId}, ${stack}, ${newId()}, 'PLAN', 'SUCCESS', now(), now(), now(), ${database.json(plan)})`
  const stateId = newId()
  const cell = { table: 'stack_state', row: stateId, column: 'sealed_state' }
  const sealed = await rooms.vault.seal(database, objects.organizationId, cell, '{"serial":1,"lineage":"a"}')
  for (const [number, id] of [stateId, newId()].entries()) {
    await database`
      insert into stack_state (id, service_id, number, run_id, created_at, serial, lineage, bytes, sealed_state)
      values (${id}, ${stack}, ${number + 1}, ${runId}, now(), ${number + 1}, 'a', 26, ${sealed})`
  }
  return { runId, stateId }
}
