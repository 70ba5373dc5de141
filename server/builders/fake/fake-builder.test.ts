import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builderCases, contextOf, recipeOf, recording } from '../builder.cases.ts'
import { createFakeBuilder } from './fake-builder.ts'

const builder = createFakeBuilder()

builderCases('fake', () => ({
  builder,
  dockerfile(service, kind) {
    builder.tell(service, { type: kind.does, lines: kind.prints })
    return 'FROM scratch\n'
  },
}))

test('createFakeBuilder remembers its builds and returns the same image for the same recipe', async () => {
  const [one, other] = [createFakeBuilder(), createFakeBuilder()]
  const recipe = recipeOf('1234', 'FROM scratch\n')
  const first = await one.build(contextOf(recipe), recipe, recording().attempt)
  assert.deepEqual(one.built, [first.reference])
  assert.deepEqual(one.references(), [first.reference])
  assert.deepEqual(await other.build(contextOf(recipe), recipe, recording().attempt), first)
})

test('createFakeBuilder fails with the configured error', async () => {
  const fake = createFakeBuilder()
  const recipe = recipeOf('1234', 'FROM scratch\n')
  const told = new Error('as told')
  fake.tell('1234', { type: 'fail', error: told })
  await assert.rejects(fake.build(contextOf(recipe), recipe, recording().attempt), (error) => error === told)
  fake.tell('1234', { type: 'succeed' })
  assert.ok(await fake.build(contextOf(recipe), recipe, recording().attempt))
})
