import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDeploymentSlots } from './deployment-slots.ts'

test('each engine has its own slots, and clusters without an engine share one set', () => {
  const slotsOf = createDeploymentSlots(1)
  assert.equal(slotsOf({ engine: 'local' }), slotsOf({ engine: 'local' }))
  assert.notEqual(slotsOf({ engine: 'local' }), slotsOf({ engine: 'second' }))
  assert.equal(slotsOf({ engine: null }), slotsOf({ engine: null }))
  assert.notEqual(slotsOf({ engine: null }), slotsOf({ engine: 'local' }))
  assert.ok(slotsOf({ engine: 'local' }).takeNow('organization'))
  assert.equal(slotsOf({ engine: 'local' }).takeNow('organization'), undefined)
  assert.ok(slotsOf({ engine: 'second' }).takeNow('organization'))
})
