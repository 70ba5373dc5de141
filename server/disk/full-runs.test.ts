import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../lib/id.ts'
import { fullRuns } from './full-runs.ts'

const gibibyte = 1024 ** 3
const id = newId()
const limits = (limit_gib: number | null) => [{ run_id: id, limit_gib }]
const wrote = (gib: number, number = 1, run = id) => ({ service: 's', run: `${run}-${number}`, bytes: gib * gibibyte })

test('a run may write up to the limit of its job or the platform', () => {
  const isFull = (gib: number, limit_gib: number | null) => fullRuns([wrote(gib)], limits(limit_gib), 10).length
  assert.deepEqual(
    [isFull(10, null), isFull(10.1, null), isFull(10.1, 20), isFull(2, 2), isFull(2.1, 2)],
    [0, 1, 0, 0, 1],
  )
})

test('a run’s limit includes what its failed attempts wrote', () => {
  assert.deepEqual(fullRuns([wrote(6), wrote(3, 2)], limits(null), 10), [])
  const [full] = fullRuns([wrote(6), wrote(5, 12)], limits(null), 10)
  assert.equal(full?.id, id)
  assert.match(full.reason, /wrote 11\.0 GiB to the disk, and its limit is 10 GiB\. .*ephemeral_storage_in_gib/)
})

test('runs that are unknown or have ended do not count', () => {
  assert.deepEqual(fullRuns([wrote(99, 1, newId())], limits(null), 10), [])
})
