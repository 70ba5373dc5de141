import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCanarySteps } from '@quayside/contract/services/canary-steps.ts'
import { type CanaryPlan, canaryPlanOf, outcomesOf, progressText, whyBack, withNewer } from './canary-plan.ts'

const plan: CanaryPlan = {
  steps: [5, 25, 50],
  stepSeconds: 60,
  maxErrorPercent: 5,
  maxLatencyMs: undefined,
  maxSlowPercent: 5,
  minRequests: 20,
}
const none = { requests: 0, failed: 0, slow: 0 }

test('the advanced settings of a service become the plan of its canary deployments', () => {
  const stored = {
    'deployment.canary.steps': '5, 25,50',
    'deployment.canary.step_seconds': 30,
    'deployment.canary.max_error_percent': 0,
    'deployment.canary.max_latency_ms': 250,
    'deployment.canary.max_slow_percent': 1,
    'deployment.canary.min_requests': 1,
  }
  const limits = { maxErrorPercent: 0, maxLatencyMs: 250, maxSlowPercent: 1, minRequests: 1 }
  const expected = { steps: [5, 25, 50], stepSeconds: 30, ...limits }
  assert.deepEqual(canaryPlanOf('container', stored), expected)
  assert.deepEqual(canaryPlanOf('application', { 'deployment.canary.steps': '5,25,50' }), plan)
  assert.equal(canaryPlanOf('application', {}), undefined)
  assert.equal(canaryPlanOf('application', { 'deployment.canary.steps': '50,5' }), undefined)
})

test('steps are percentages that grow, twenty at most', () => {
  assert.deepEqual(readCanarySteps('1,99,100'), [1, 99, 100])
  assert.deepEqual(readCanarySteps(' '), [])
  for (const wrong of ['0', '101', '5,5', '50,5', '5,', ',', '1.5', '-1', '1e1', '٥', '5;6', 'all']) {
    assert.throws(() => readCanarySteps(wrong), /percentage|larger/, wrong)
  }
  const many = Array.from({ length: 21 }, (_, index) => index + 1).join(',')
  for (const long of [many, '1,'.repeat(100_000)]) assert.throws(() => readCanarySteps(long), /at most 20 steps/)
})

test('a deployment goes back if more requests of a step fail than the limit', () => {
  assert.equal(whyBack(plan, { requests: 100, failed: 5, slow: 0 }, none), undefined)
  assert.equal(
    whyBack(plan, { requests: 200, failed: 37, slow: 0 }, none),
    'It went back to the previous version: 37 of 200 requests to the new version failed (18.5 %, the limit is 5 %).',
  )
  const before = { requests: 1000, failed: 0, slow: 0 }
  assert.match(whyBack(plan, { requests: 1020, failed: 2, slow: 0 }, before) ?? '', /2 of 20 requests .* \(10 %,/)
})

test('too few requests of a step are not judged, but all steps together are', () => {
  assert.equal(whyBack(plan, { requests: 19, failed: 19, slow: 0 }, none), undefined)
  assert.equal(whyBack(plan, none, none), undefined)
  const before = { requests: 15, failed: 15, slow: 0 }
  assert.match(whyBack(plan, { requests: 25, failed: 25, slow: 0 }, before) ?? '', /25 of 25/)
})

test('the limit of 100 percent never goes back, and that of 0 goes back at one failure', () => {
  assert.equal(whyBack({ ...plan, maxErrorPercent: 100 }, { requests: 50, failed: 50, slow: 0 }, none), undefined)
  assert.notEqual(whyBack({ ...plan, maxErrorPercent: 0 }, { requests: 50, failed: 1, slow: 0 }, none), undefined)
})

test('counts of several router processes are added, and the counts of an ended one are kept', () => {
  const one = withNewer({}, [{ source: 'a', requests: 10, failed: 1, slow: 0 }])
  const two = withNewer(one, [{ source: 'b', requests: 5, failed: 0, slow: 0 }])
  const three = withNewer(two, [
    { source: 'b', requests: 7, failed: 2, slow: 0 },
    { source: 'a', requests: 3, failed: 0, slow: 0 },
  ])
  assert.deepEqual(outcomesOf(three), { requests: 17, failed: 3, slow: 0 })
  assert.equal(
    progressText(plan, 1, outcomesOf(three), { requests: 10, failed: 1, slow: 0 }),
    '25 % of requests go to the new version: 2 of 7 failed.',
  )
})

test('a deployment goes back if more requests than the limit wait too long for a response', () => {
  const judged = { ...plan, maxLatencyMs: 500, maxSlowPercent: 10 }
  assert.equal(whyBack(judged, { requests: 100, failed: 0, slow: 10 }, none), undefined)
  assert.equal(
    whyBack(judged, { requests: 100, failed: 0, slow: 11 }, none),
    'It went back to the previous version: 11 of 100 requests to the new version waited longer than 500 ms for a ' +
      'response (11 %, the limit is 10 %).',
  )
  const before = { requests: 1000, failed: 0, slow: 0 }
  assert.match(whyBack(judged, { requests: 1020, failed: 0, slow: 3 }, before) ?? '', /3 of 20 requests .* \(15 %,/)
  assert.match(whyBack(judged, { requests: 20, failed: 2, slow: 18 }, none) ?? '', /2 of 20 requests .* failed/)
  assert.equal(
    progressText(judged, 1, { requests: 30, failed: 1, slow: 2 }, none),
    '25 % of requests go to the new version: 1 of 30 failed, 2 waited longer than 500 ms for a response.',
  )
})
