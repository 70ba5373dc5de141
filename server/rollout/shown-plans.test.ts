import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { type EngineCapabilities, FakeEngine } from '../engines/index.ts'
import { systemClock } from '../lib/clock.ts'

class StackEngine extends FakeEngine {
  override readonly capabilities: EngineCapabilities = {
    ...new FakeEngine({ clock: systemClock }).capabilities,
    shapes: new Set(['long-running', 'task', 'stack']),
  }
}
const engine = new StackEngine({ clock: systemClock })
const { a, b, call, addObjects } = await createPlatform({ after }, { works: true, engine })
const sibling = await addObjects(a)
const stack = a.objects.more['terraformId'] ?? ''

for (const [whose, objects] of Object.entries({ 'another environment': sibling, 'another organization': b.objects })) {
  test(`the plan of a stack of ${whose} is unknown`, async () => {
    const body = { plan_run_id: objects.more['runId'] }
    const one = await call(a.tokens.ADMIN, 'POST', `/terraform/${stack}/deploy`, body)
    assert.equal(one.status, 404, one.text)
    const path = `/environment/${a.objects.environmentId}/service/deploy`
    const some = await call(a.tokens.ADMIN, 'POST', path, { terraforms: [{ id: stack, ...body }] })
    assert.equal(some.status, 404, some.text)
  })
}
