import { newId } from '../../../server/lib/id.ts'
import { summarizePlan } from '../../../server/stacks/index.ts'
import type { Contribution } from '../fixture.ts'

/** Adds an ended run of the stack with its plan, and two versions of its state. */
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
  for (const [index, id] of [stateId, newId()].entries()) {
    const cell = { table: 'stack_state', row: id, column: 'sealed_state' }
    const number = index + 1
    const text = JSON.stringify({ serial: number, lineage: 'a' })
    const sealed = await rooms.vault.seal(database, objects.organizationId, cell, text)
    await database`
      insert into stack_state (id, service_id, number, run_id, created_at, serial, lineage, bytes, sealed_state)
      values (${id}, ${stack}, ${number}, ${runId}, now(), ${number}, 'a', ${text.length}, ${sealed})`
  }
  return { runId, stateId }
}
