import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../lib/id.ts'
import { aborted, ended, noWork, readSteps, submit, testWorkflows, until, workflow } from './testing.ts'

const waits = { rests: 'in order' } as const

/** Submits a workflow that holds one place, and returns a function that ends it. */
function createWork() {
  const open = new Map<string, () => void>()
  const works = workflow('works', async (_input, step, { id }) => {
    await step('WORK', ({ signal }) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      open.set(id, resolve)
      return Promise.race([promise, aborted(signal)])
    })
  })
  return { works, open }
}

test('a workflow that rests leaves its place, and waits for it in order after a success', async (t) => {
  const { sql, start } = await testWorkflows(t)
  const { works, open } = createWork()
  const resting = Promise.withResolvers<void>()
  const rests = workflow('rests', async (_input, step) => {
    await noWork(step, 'BEFORE')
    await step('REST', () => resting.promise, waits)
    await noWork(step, 'AFTER')
  })
  const engine = start([rests, works], { maxRunning: 1 })
  const countsFor = { organizationId: newId() }
  const id = await submit(sql, engine, 'rests', { countsFor })
  const other = await submit(sql, engine, 'works', { countsFor })
  await until('the other one works', () => open.has(other))
  resting.resolve()
  await until('its rest is recorded', async () =>
    (await readSteps(sql, id)).some(({ name, status }) => name === 'REST' && status === 'SUCCESS'),
  )
  const next = await submit(sql, engine, 'works', { countsFor })
  assert.deepEqual((await readSteps(sql, id)).length, 2)
  open.get(other)?.()
  assert.equal((await ended(sql, id)).state, 'done')
  await until('the next one works', () => open.has(next))
  open.get(next)?.()
  assert.equal((await ended(sql, next)).state, 'done')
})

for (const [how, fails] of [
  ['fails', true],
  ['is cancelled', false],
] as const) {
  test(`a workflow whose rest ${how} continues at once while all places are taken`, async (t) => {
    const { sql, start } = await testWorkflows(t)
    const { works, open } = createWork()
    const resting = Promise.withResolvers<void>()
    const rests = workflow('rests', async (_input, step) => {
      const work = ({ signal }: { readonly signal: AbortSignal }) => Promise.race([resting.promise, aborted(signal)])
      await step('REST', work, waits).catch(async (error: unknown) => {
        await step('CLEAN', async () => {}, { evenIfCanceled: true })
        throw error
      })
    })
    const engine = start([rests, works], { maxRunning: 1 })
    const id = await submit(sql, engine, 'rests')
    const other = await submit(sql, engine, 'works')
    await until('the other one works', () => open.has(other))
    if (fails) resting.reject(new Error('bad'))
    else assert.equal(await engine.requestCancel(sql, id), 'running')
    assert.equal((await ended(sql, id)).state, fails ? 'failed' : 'canceled')
    assert.deepEqual((await readSteps(sql, id)).at(-1)?.name, 'CLEAN')
    open.get(other)?.()
    assert.equal((await ended(sql, other)).state, 'done')
  })
}

test('a workflow with a step that works beside its rest has a place, and leaves it afterwards', async (t) => {
  const { sql, start } = await testWorkflows(t)
  const { works, open } = createWork()
  const parts = { rest: Promise.withResolvers<void>(), work: Promise.withResolvers<void>() }
  const both = workflow('both', async (_input, step) => {
    await Promise.all([
      step('REST', () => parts.rest.promise, waits),
      step('WORK', () => parts.work.promise),
      step('REST-2', () => parts.rest.promise, { rests: 'at once' }),
    ])
  })
  const engine = start([both, works], { maxRunning: 1, pollMs: 20 })
  const id = await submit(sql, engine, 'both')
  await until('its steps run', async () => (await readSteps(sql, id)).length === 3)
  const other = await submit(sql, engine, 'works')
  const third = await submit(sql, engine, 'works')
  assert.equal(open.size, 0)
  parts.work.resolve()
  await until('the other one works', () => open.has(other))
  const [row] = await sql`select is_resting from workflow where id = ${id}`
  assert.deepEqual(row, { is_resting: true })
  parts.rest.resolve()
  await until('its rests are recorded', async () => (await readSteps(sql, id)).every((step) => step.ended))
  open.get(other)?.()
  await until('the third one works', () => open.has(third))
  open.get(third)?.()
  assert.equal((await ended(sql, id)).state, 'done')
})

test('a resting workflow continues on a server whose places are all taken', async (t) => {
  const { sql, start } = await testWorkflows(t)
  const { works, open } = createWork()
  const resting: PromiseWithResolvers<void>[] = []
  const rests = workflow('rests', async (_input, step) => {
    await step(
      'REST',
      ({ signal }) => {
        const rest = Promise.withResolvers<void>()
        resting.push(rest)
        return Promise.race([rest.promise, aborted(signal)])
      },
      { rests: 'at once' },
    )
    await noWork(step, 'AFTER')
  })
  const first = start([rests, works], { maxRunning: 1, pollMs: 20 })
  const ids = await Promise.all(Array.from({ length: 3 }, () => submit(sql, first, 'rests')))
  await until('all rest', async () => (await sql`select from workflow where is_resting`).length === 3)
  const other = await submit(sql, first, 'works')
  await until('the other one works', () => open.has(other))
  await first.stop()
  open.clear()
  start([rests, works], { maxRunning: 1, pollMs: 20 })
  await until('everything continues', () => resting.length === 6 && open.has(other))
  for (const rest of resting) rest.resolve()
  for (const id of ids) assert.equal((await ended(sql, id)).state, 'done')
  open.get(other)?.()
  assert.equal((await ended(sql, other)).state, 'done')
})

test('an organization has a limited number of running workflows, with those that rest', async (t) => {
  const { sql, start } = await testWorkflows(t)
  const rests = workflow('rests', async (_input, step) => {
    await step('REST', ({ signal }) => aborted(signal), waits)
  })
  const engine = start([rests], { maxRunning: 2, pollMs: 20 })
  const countsFor = { organizationId: newId() }
  for (let count = 0; count < 6; count++) await submit(sql, engine, 'rests', { countsFor })
  await until('four rest', async () => (await sql`select from workflow where is_resting`).length === 4)
  const other = await submit(sql, engine, 'rests', { countsFor: { organizationId: newId() } })
  await until('another organization begins', async () => {
    const [row] = await sql`select is_resting from workflow where id = ${other}`
    return row?.['is_resting'] === true
  })
  assert.equal((await sql`select from workflow where state = 'queued'`).length, 2)
})
