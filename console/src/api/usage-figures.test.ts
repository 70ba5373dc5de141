import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUsage, type ReplicaUsage, type Usage } from './usage-figures.ts'

const figure = (pod: string, current: number): Usage => {
  const metric = { current, current_percent: 1, limit: 100, status: 'OK' } as const
  return { pod_name: pod, cpu: { ...metric, unit: 'mCPU' }, memory: { ...metric, unit: 'MiB' }, storages: [] }
}

test('the figures of each replica are kept for ten minutes', () => {
  let known: readonly ReplicaUsage[] = []
  for (let count = 0; count < 130; count++) known = addUsage(known, figure('one', count), count * 5)
  assert.deepEqual([known[0]?.times.length, known[0]?.cpu.at(0), known[0]?.cpu.at(-1)], [120, 10, 129])
})

test('a replica that is gone is left out', () => {
  const two = addUsage(addUsage([], figure('two', 1), 0), figure('one', 1), 10)
  assert.deepEqual(
    two.map(({ pod }) => pod),
    ['one', 'two'],
  )
  assert.deepEqual(
    addUsage(two, figure('one', 2), 35).map(({ pod }) => pod),
    ['one'],
  )
})
