import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContainerStats } from './docker-api.ts'
import { baseline, type Sample, sampleOf, usageOf } from './usage.ts'

const mebibyte = 1024 * 1024
const sample = (atMs: number, cpuNanos: number): Sample => ({
  atMs,
  cpuNanos,
  memoryBytes: 30 * mebibyte,
  memoryLimitBytes: 128 * mebibyte,
})
const stats = (memory: object, cpu: object = { cpu_usage: { total_usage: 5 } }) =>
  // Only the parts of the daemon's response that are read.
  ({ read: '1970-01-01T00:00:01.000000000Z', cpu_stats: cpu, memory_stats: memory }) as ContainerStats

test('half a core for two seconds is 500 thousandths of a core', () => {
  assert.deepEqual(usageOf('r-1', 500, sample(1_000, 0), sample(3_000, 1_000_000_000)), {
    replica: 'r-1',
    cpuMilli: 500,
    cpuLimitMilli: 500,
    memoryMiB: 30,
    memoryLimitMiB: 128,
  })
})

test('a rate is measured from the newest sample that is old enough, and never across a restart', () => {
  const now = sample(100_000, 500)
  assert.equal(baseline([sample(90_000, 100), sample(99_000, 200)], now)?.atMs, 99_000)
  assert.equal(baseline([sample(90_000, 100), sample(99_900, 200)], now)?.atMs, 90_000)
  assert.equal(baseline([sample(99_900, 200)], now), undefined)
  assert.equal(baseline([sample(30_000, 200)], now), undefined)
  assert.equal(baseline([sample(99_000, 900)], now), undefined)
})

test('memory excludes cached file pages, for both versions of control groups', () => {
  const first = sampleOf(stats({ usage: 100, limit: 200, stats: { total_inactive_file: 40, inactive_file: 1 } }))
  const second = sampleOf(stats({ usage: 100, limit: 200, stats: { inactive_file: 30 } }))
  assert.deepEqual([first?.memoryBytes, second?.memoryBytes, second?.atMs], [60, 70, 1_000])
})

test('a container that does not run has no usage', () => {
  assert.equal(sampleOf(stats({}, { cpu_usage: { total_usage: 0 } })), undefined)
})
