import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EngineError, type EngineReason } from '../../engines/index.ts'
import { buildOrder } from '../build-order.ts'
import { recipeOf, recording } from '../builder.cases.ts'
import { BuildError } from '../builder.ts'
import { chooseBuildKit } from './choose-buildkit.ts'

const order = buildOrder(recipeOf('one', 'FROM scratch\n'))
const choose = (reason: EngineReason, storesInContainerd = false) => {
  const { attempt, lines } = recording()
  const hold = () => Promise.reject(new EngineError(reason, 'the reason'))
  return { chosen: chooseBuildKit({ hold }, { storesInContainerd }, order, attempt), lines }
}

test('chooseBuildKit returns why the engine builds, and says so in the log', async () => {
  for (const reason of ['refused', 'image-missing'] as const) {
    const { chosen, lines } = choose(reason)
    assert.deepEqual(await chosen, { why: 'the reason' })
    assert.match(lines.join(), /The BuildKit of the Docker Engine builds this image\. the reason/)
  }
  assert.match(JSON.stringify(await choose('refused', true).chosen), /image store of containerd/)
})

test('chooseBuildKit fails the build with its reason when the engine is away or its disk is full', async () => {
  for (const reason of ['unreachable', 'disk-full'] as const) {
    await assert.rejects(choose(reason).chosen, (error) => {
      assert.ok(error instanceof BuildError, String(error))
      assert.equal(error.reason, reason)
      return true
    })
  }
})
