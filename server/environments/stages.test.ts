import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { testDatabase } from '../database/testing.ts'
import { newId } from '../lib/id.ts'
import { findStage } from './stage-store.ts'
import { addGround } from './testing.ts'

const { sql } = await testDatabase({ after })
const { stages, addEnvironment, addService } = await addGround(sql)

const rowOf = async (id: string) => {
  const row = await findStage(sql, id)
  assert.ok(row)
  return row
}
const namesOf = (list: readonly { name: string }[]): string[] => list.map(({ name }) => name)

test('a new stage is last and can move before and after others', async () => {
  const environment = await addEnvironment('moves')
  const stage = await stages.create(environment, { name: 'smoke tests', description: null })
  assert.deepEqual([stage.deployment_order, stage.description, stage.services], [4, '', []])
  const [first, second] = await stages.list(environment.id)
  assert.ok(first && second)
  const row = await rowOf(stage.id)
  const before = await stages.moveBefore(row, first.id)
  assert.deepEqual(namesOf(before).slice(0, 2), ['smoke tests', first.name])
  const behind = await stages.moveAfter(row, second.id)
  assert.deepEqual(namesOf(behind).slice(0, 3), [first.name, second.name, 'smoke tests'])
  assert.deepEqual(await stages.moveAfter(row, stage.id), behind)
  const other = await addEnvironment('other')
  const [foreign] = await stages.list(other.id)
  assert.ok(foreign)
  await assert.rejects(stages.moveAfter(row, foreign.id), { code: 'notFound' })
})

test('names of stages are unique in an environment, regardless of case', async () => {
  const environment = await addEnvironment('names')
  const stage = await stages.create(environment, { name: 'tests', description: 'all of them' })
  await assert.rejects(stages.create(environment, { name: 'TESTS' }), { code: 'conflict', message: /"TESTS"/ })
  await assert.rejects(stages.edit(await rowOf(stage.id), { name: 'default job' }), { code: 'conflict' })
  const edited = await stages.edit(await rowOf(stage.id), { name: 'Tests' })
  assert.deepEqual([edited.name, edited.description], ['Tests', 'all of them'])
  assert.equal((await stages.edit(await rowOf(stage.id), { name: 'Tests', description: null })).description, '')
})

test('a service moves between the stages of its environment, and a move ends its skip', async () => {
  const environment = await addEnvironment('services')
  const id = await addService(environment, 'web')
  const [first] = await stages.list(environment.id)
  assert.ok(first)
  const servicesOf = (list: Awaited<ReturnType<typeof stages.list>>) =>
    list.flatMap(({ name, services }) =>
      services.map((one) => [name, one.service_id, one.service_type, one.is_skipped]),
    )
  const row = await rowOf(first.id)
  assert.deepEqual(servicesOf(await stages.attach(row, id, true)), [[first.name, id, 'APPLICATION', true]])
  assert.deepEqual(servicesOf(await stages.attach(row, id, false)), [[first.name, id, 'APPLICATION', false]])
  const stranger = await addService(await addEnvironment('strange'), 'web')
  for (const wrong of [stranger, newId()]) {
    await assert.rejects(stages.attach(row, wrong, false), { code: 'notFound' })
  }
  await assert.rejects(stages.remove(row), { code: 'conflict', message: /holds services/ })
})

test('an environment keeps its last stage', async () => {
  const environment = await addEnvironment('last')
  for (const { id } of (await stages.list(environment.id)).slice(1)) await stages.remove(await rowOf(id))
  const [left] = await stages.list(environment.id)
  assert.equal(left?.deployment_order, 0)
  await assert.rejects(stages.remove(await rowOf(left?.id ?? '')), { code: 'conflict', message: /only stage/ })
})

test('whatever is made, moved and deleted, the order is dense from 0 and as asked', { timeout: 60_000 }, async () => {
  const place = fc.nat({ max: 9 })
  const change = fc.oneof(
    fc.record({ what: fc.constant('create' as const) }),
    fc.record({ what: fc.constant('remove' as const), one: place }),
    fc.record({ what: fc.constantFrom('before' as const, 'after' as const), one: place, other: place }),
  )
  let run = 0
  const property = fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
    const environment = await addEnvironment(`property ${++run}`)
    let expected = (await stages.list(environment.id)).map(({ id }) => id)
    for (const [index, step] of changes.entries()) {
      const pick = (at: number): string => expected[at % expected.length] ?? ''
      if (step.what === 'create') expected.push((await stages.create(environment, { name: `stage ${index}` })).id)
      else if (step.what === 'remove') {
        if (expected.length === 1) continue
        const id = pick(step.one)
        await stages.remove(await rowOf(id))
        expected = expected.filter((one) => one !== id)
      } else {
        const [id, other] = [pick(step.one), pick(step.other)]
        await (step.what === 'before' ? stages.moveBefore : stages.moveAfter)(await rowOf(id), other)
        if (id === other) continue
        const others = expected.filter((one) => one !== id)
        expected = others.toSpliced(others.indexOf(other) + (step.what === 'before' ? 0 : 1), 0, id)
      }
    }
    const list = await stages.list(environment.id)
    assert.deepEqual(list.map(({ deployment_order }) => deployment_order), [...list.keys()])
    assert.deepEqual(list.map(({ id }) => id), expected)
  }) // biome-ignore format: one line
  await fc.assert(property, { numRuns: 40 })
})

test('the order of stages has no gaps after concurrent changes', async () => {
  const environment = await addEnvironment('together')
  const [first, second, third] = await stages.list(environment.id)
  assert.ok(first && second && third)
  await Promise.all([
    stages.create(environment, { name: 'a' }),
    stages.create(environment, { name: 'b' }),
    stages.moveAfter(await rowOf(first.id), third.id),
    stages.remove(await rowOf(second.id)),
  ])
  const list = await stages.list(environment.id)
  assert.deepEqual(
    list.map(({ deployment_order }) => deployment_order),
    [0, 1, 2, 3, 4],
  )
})
