import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changedPaths } from './changed-paths.ts'
import { isRolledOut } from './rolled-out.ts'

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

test('a rollout has ended when all replicas have the current form and are available', () => {
  const done = { observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2 }
  const at = (status: object) =>
    isRolledOut({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'a', generation: 2 },
      spec: { replicas: 2 },
      status: { ...done, ...status },
    })
  assert.equal(at({}), true)
  assert.equal(at({ observedGeneration: 1 }), false)
  assert.equal(at({ updatedReplicas: 1 }), false)
  assert.equal(at({ replicas: 3 }), false)
  assert.equal(at({ availableReplicas: 1 }), false)
})
