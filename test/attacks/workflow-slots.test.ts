import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { newId } from '../../server/lib/id.ts'
import { aborted, ended, readWorkflow, submit, testWorkflows, until, workflow } from '../../server/workflows/testing.ts'

/** Group N: whether one organization can keep the work of others from running. */

const maxRunning = 20

/**
 * Starts an engine with one kind of work that lasts until the test ends and one that ends at once.
 */
async function engineFor(t: TestContext) {
  const { sql, start } = await testWorkflows(t)
  const long = workflow('long', async (_input, step) => step('WAIT', ({ signal }) => aborted(signal)))
  const engine = start([long, workflow('short', async () => {})], { maxRunning })
  const queueLong = (organizationId: string, count: number) =>
    Promise.all(Array.from({ length: count }, () => submit(sql, engine, 'long', { countsFor: { organizationId } })))
  const running = async (ids: readonly string[]): Promise<number> => {
    const rows = await Promise.all(ids.map((id) => readWorkflow(sql, id)))
    return rows.filter(({ state }) => state === 'running').length
  }
  return { sql, engine, queueLong, running }
}

test('N32 an organization with too much work holds half of the slots, and others are served', async (t) => {
  const { sql, engine, queueLong, running } = await engineFor(t)
  const queued = await queueLong(newId(), 3 * maxRunning)
  await until('its share runs', async () => (await running(queued)) >= maxRunning / 2)
  const other = await submit(sql, engine, 'short', { countsFor: { organizationId: newId() } })
  assert.equal((await ended(sql, other, 10_000)).state, 'done')
  assert.equal(await running(queued), maxRunning / 2)
})

test('N33 many busy organizations leave slots to an idle one and to the platform', async (t) => {
  const { sql, engine, queueLong, running } = await engineFor(t)
  const queued: string[] = []
  for (let count = 0; count < 3; count++) queued.push(...(await queueLong(newId(), maxRunning)))
  await until('their shares run', async () => (await running(queued)) >= maxRunning - 4)
  const other = await submit(sql, engine, 'short', { countsFor: { organizationId: newId() } })
  const own = await submit(sql, engine, 'short', { countsFor: 'platform' })
  assert.equal((await ended(sql, other, 10_000)).state, 'done')
  assert.equal((await ended(sql, own, 10_000)).state, 'done')
})
