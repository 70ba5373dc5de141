import assert from 'node:assert/strict'
import { test } from 'node:test'
import { label, ownLabels, routeLabels } from './labels.ts'
import { isInPlace } from './own-place.ts'

const environment = '01a20b53-0000-7002-849b-000000000003'
const isThere = (namespace: string | undefined, labels?: Record<string, string>): boolean =>
  isInPlace({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', ...(namespace && { namespace }), ...(labels && { labels }) },
  })

test('an object with labels of an environment is ours only in its namespace', () => {
  const labels = ownLabels('here', { [label.environment]: environment, [label.service]: 's', [label.release]: 'r' })
  assert.ok(isThere(`quayside-${environment}`, labels))
  for (const namespace of ['evil', 'quayside-01a20b53-0000-7002-849b-000000000004', 'quayside-', `x${environment}`]) {
    assert.ok(!isThere(namespace, labels), namespace)
  }
})

test('an object of a service that names no environment is not ours', () => {
  for (const name of [label.service, label.release, label.run, label.volume]) {
    assert.ok(!isThere(`quayside-${environment}`, ownLabels('here', { [name]: 'x' })), name)
  }
})

test('helpers and objects of routes are in a namespace of the platform', () => {
  for (const labels of [ownLabels('here', { [label.helper]: 'read' }), routeLabels('here')]) {
    assert.ok(isThere(`quayside-${environment}`, labels))
    assert.ok(!isThere('evil', labels))
  }
})

test('objects of others, and those without a namespace, are not judged', () => {
  assert.ok(isThere('evil'))
  assert.ok(isThere('kube-system', { 'k8s-app': 'kube-dns' }))
  assert.ok(isThere(undefined, ownLabels('here', { [label.environment]: environment })))
})
