import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRoster } from '../lib/roster.ts'
import { builderOrNone, createBuilders, NoBuilderError } from './builders.ts'
import { createFakeBuilder } from './fake/fake-builder.ts'
import { noBuilder } from './no-builder.ts'

const [here, shared] = [createFakeBuilder(), createFakeBuilder()]
const { builderOf } = createBuilders(
  createRoster([
    { name: 'local', builder: here },
    { name: 'second', builder: shared },
    { name: 'third', builder: shared },
  ]),
)

test('builderOf returns the builder of the engine of a cluster', () => {
  assert.equal(builderOf({ engine: 'local' }), here)
  assert.equal(builderOf({ engine: 'second' }), shared)
  assert.equal(builderOf({ engine: 'third' }), shared)
})

test('builderOf throws with the reason for a record or an unknown engine', () => {
  assert.throws(() => builderOf({ engine: null }), /NoBuilderError.*is a record/s)
  assert.throws(() => builderOf({ engine: 'elsewhere' }), NoBuilderError)
  assert.throws(() => builderOf({ engine: 'elsewhere' }), /a builder for the engine "elsewhere"/)
})

test('builderOrNone returns a builder without images for a record', async () => {
  const signal = AbortSignal.timeout(1000)
  const builder = builderOrNone(builderOf, { engine: null })
  assert.equal(builder, noBuilder)
  assert.equal(await builder.has({ reference: 'a:b', digest: '' }, signal), false)
  await builder.prune('service', [], signal)
  assert.equal(builderOrNone(builderOf, { engine: 'local' }), here)
})
