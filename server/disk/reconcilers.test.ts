import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDiskReconciler, createSpaceWatch, joinDisks } from './reconcilers.ts'

const { signal } = new AbortController()

test('the disk is measured early only when space is low', async () => {
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

test('the disk is checked once a minute', () => {
  assert.equal(createDiskReconciler({ reconcile: async () => {} }, 'local').everyMs, 60_000)
})

test('joinDisks throws without a keeper of this machine', () => {
  assert.throws(() => joinDisks({ all: [] }, () => {}), /this machine has no engine/)
})
