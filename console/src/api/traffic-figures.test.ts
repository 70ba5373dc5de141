import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServiceTraffic } from './reads-traffic.ts'
import { amount, errorPercent, milliseconds, percent, trafficLines } from './traffic-figures.ts'

const figures = (requests: number, status_5xx = 0) => ({
  requests,
  status_1xx: 0,
  status_2xx: requests - status_5xx,
  status_3xx: 0,
  status_4xx: 0,
  status_5xx,
  answered_by_router: 0,
  connections: 0,
  bytes_in: 60 * requests,
  bytes_out: 600 * requests,
  first_byte: null,
  duration: requests === 0 ? null : { p50_ms: 3, p95_ms: 9, p99_ms: 12, average_ms: 4 },
})

const traffic = (...points: ReturnType<typeof figures>[]): ServiceTraffic => ({
  from: '2026-06-01T12:00:00Z',
  to: '2026-06-01T13:00:00Z',
  step_seconds: 60,
  total: figures(0),
  points: points.map((point, index) => ({ at: `2026-06-01T12:0${index}:00Z`, ...point })),
})

const start = Date.parse('2026-06-01T12:00:00Z') / 1000

test('rates are per second, and steps without requests have a gap in the latency', () => {
  const lines = trafficLines(traffic(figures(120, 6), figures(0)), start + 120)
  assert.deepEqual(lines.requests, [2, 0])
  assert.deepEqual(lines.errors, [5, null])
  assert.deepEqual(lines.p95, [9, null])
  assert.deepEqual(lines.bytesOut, [1_200, 0])
})

test('the step that is not over counts with its part, and a fresh one is left out', () => {
  assert.deepEqual(trafficLines(traffic(figures(60), figures(60)), start + 90).requests, [1, 2])
  assert.deepEqual(trafficLines(traffic(figures(60), figures(60)), start + 70).requests, [1])
})

test('numbers are short', () => {
  assert.deepEqual([0, 0.1234, 12.34, 1_240.4].map(amount), ['0', '0.123', '12.3', '1,240'])
  assert.deepEqual([3, 85.44, 1_234].map(milliseconds), ['3 ms', '85.4 ms', '1.23 s'])
  assert.deepEqual([0, 0.001, 1.5, 100].map(percent), ['0 %', '< 0.01 %', '1.5 %', '100 %'])
  assert.equal(errorPercent(figures(0)), 0)
})
