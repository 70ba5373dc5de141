import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changedPaths } from './changed-paths.ts'

const metadata = { name: 'a', labels: { one: '1' }, resourceVersion: '7', generation: 1, managedFields: [1] }
const before = { metadata, spec: { replicas: 1, template: { spec: { containers: [{ name: 'main' }] } } }, status: {} }

test('fields that only the cluster writes are no change', () => {
  const after = {
    ...before,
    metadata: { ...metadata, resourceVersion: '8', generation: 2, managedFields: [] },
    status: { replicas: 1 },
  }
  assert.deepEqual(changedPaths(before, after), [])
})

test('changed, added and removed fields are named without their values', () => {
  const after = {
    metadata: { ...metadata, labels: { two: 'secret' } },
    spec: { replicas: 1, template: { spec: { containers: [{ name: 'secret' }] } } },
    status: {},
  }
  assert.deepEqual(changedPaths(before, after), [
    'metadata.labels.one',
    'metadata.labels.two',
    'spec.template.spec.containers',
  ])
})

test('the order of members is no change, and that of lists is one', () => {
  assert.deepEqual(changedPaths({ a: { b: 1, c: 2 } }, { a: { c: 2, b: 1 } }), [])
  assert.deepEqual(changedPaths({ a: [{ b: 1, c: 2 }] }, { a: [{ c: 2, b: 1 }] }), [])
  assert.deepEqual(changedPaths({ a: [1, 2] }, { a: [2, 1] }), ['a'])
})
