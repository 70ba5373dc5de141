import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDiskReconciler, createSpaceWatch, joinDisks } from './reconcilers.ts'

const { signal } = new AbortController()

test('the disk is measured only once space is low', async () => {
  let isLow = false
  let measured = 0
  const watch = createSpaceWatch({ watch: async () => isLow }, 'local', () => {
    measured += 1
  })
  await watch.reconcile(signal)
  assert.equal(measured, 0)
  isLow = true
  await watch.reconcile(signal)
  assert.equal(measured, 1)
})

test('the disk is looked after once a minute', () => {
  assert.equal(createDiskReconciler({ reconcile: async () => {} }, 'local').everyMs, 60_000)
})

test('disks without that of this machine are refused', () => {
  assert.throws(() => joinDisks([], () => {}), /this machine has no engine/)
})
