import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canaryDraft, canaryFields, canaryValues, canaryWords, hasCanary } from './canary.ts'

const usual = {
  'deployment.canary.steps': '',
  'deployment.canary.step_seconds': 60,
  'deployment.canary.max_error_percent': 5,
  'deployment.canary.max_latency_ms': 0,
  'deployment.canary.max_slow_percent': 5,
  'deployment.canary.min_requests': 20,
}
const stepped = { ...usual, 'deployment.canary.steps': '5,25, 50' }

test('the settings and the form say the same', () => {
  for (const values of [usual, stepped]) assert.deepEqual(canaryValues(canaryDraft(values)), values)
  assert.deepEqual([hasCanary(usual), hasCanary({ 'job.delete_ttl_seconds_after_finished': 1 })], [true, false])
})

test('limits are asked for once there are steps', () => {
  assert.equal(canaryFields(canaryDraft(usual)).length, 1)
  assert.equal(canaryFields(canaryDraft(stepped)).length, 6)
  assert.equal(canaryFields({ steps: 'half' }).length, 6, 'also while they are wrong')
})

test('sentences say how a new version gets its requests', () => {
  assert.equal(canaryWords(usual), 'A new version gets all requests once it is healthy.')
  assert.equal(
    canaryWords(stepped),
    'A new version gets 5, 25 and then 50 % of the requests for 60 s each, then all of them. It goes back to the ' +
      'previous version if more than 5 % of them fail.',
  )
  const timed = {
    ...stepped,
    'deployment.canary.steps': '10',
    'deployment.canary.max_error_percent': 100,
    'deployment.canary.max_latency_ms': 300,
  }
  assert.equal(
    canaryWords(timed),
    'A new version gets 10 % of the requests for 60 s, then all of them. It goes back to the previous version if ' +
      'more than 5 % wait longer than 300 ms for a response.',
  )
})
