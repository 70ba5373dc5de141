import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toChartObservation } from './observe-chart.ts'

const now = new Date('2030-01-01T00:00:00Z')
const seen = (...parts: Parameters<typeof toChartObservation>[1]) => toChartObservation([], parts, now)

test('a chart without pods runs if its objects are ready', () => {
  assert.equal(seen({ service: 's' }, { service: 's' }).state, 'running')
})

test('a chart without any object is absent', () => {
  assert.deepEqual(seen(), { state: 'absent' })
})

test('a chart that only left volumes is absent', () => {
  const volume = { service: 's', isVolume: true }
  assert.deepEqual(seen(volume), { state: 'absent' })
  assert.equal(seen(volume, { service: 's' }).state, 'running')
})

test('an object that waits or has failed is the reason, and a failure comes first', () => {
  const waiting = { service: 's', pending: 'Service web has no address' }
  const { state, reason } = Object(seen({ service: 's' }, waiting))
  assert.deepEqual([state, reason], ['starting', 'Service web has no address'])
  const failed = Object(seen(waiting, { service: 's', failed: 'Job work failed' }))
  assert.deepEqual([failed.state, failed.reason], ['failing', 'Job work failed'])
})
