import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from './kube-objects.ts'
import { type Applied, planChanges, textOf } from './plan-changes.ts'

const object = (kind: string, name: string, namespace = 'a', more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace, ...more },
})
/** As a list returns an object after it was applied. */
const present = (one: KubeObject, version = '1'): KubeObject => ({
  ...one,
  metadata: { ...one.metadata, resourceVersion: version },
})
const appliedOnce = (...objects: readonly KubeObject[]): ReadonlyMap<string, Applied> =>
  new Map(
    objects.map((one) => [
      `${one.kind} ${one.metadata.namespace}/${one.metadata.name}`,
      { text: textOf(one), version: '1' },
    ]),
  )

const service = object('Service', 's')
const ingress = object('Ingress', 'i')

test('an unchanged object is left alone, and one that is missing, changed or foreign is applied', () => {
  const applyOf = (found: readonly KubeObject[], desired: KubeObject, applied = appliedOnce(service)) =>
    planChanges(found, [desired], applied, true).apply.length
  assert.equal(applyOf([present(service)], service), 0)
  assert.equal(applyOf([], service), 1)
  assert.equal(applyOf([present(service, '2')], service), 1)
  assert.equal(applyOf([present(service)], object('Service', 's', 'a', { labels: { new: 'yes' } })), 1)
  assert.equal(applyOf([present(service)], service, new Map()), 1)
})

const kindsOf = (objects: readonly KubeObject[]): string[] => objects.map(({ kind }) => kind)

test('objects that nothing needs are removed, and those to which others refer once the controller knows', () => {
  const first = planChanges([present(service), present(ingress)], [], new Map(), true)
  assert.deepEqual(kindsOf(first.remove), ['Ingress'])
  assert.deepEqual([first.apply, first.moving], [[], []])
  assert.deepEqual(kindsOf(planChanges([present(service)], [], new Map(), false).remove), [])
  assert.deepEqual(kindsOf(planChanges([present(service)], [], new Map(), true).remove), ['Service'])
})

test('an Ingress that moves to another namespace leaves the previous one first', () => {
  const moved = object('Ingress', 'i', 'b')
  const changes = planChanges([present(service), present(ingress)], [moved], new Map(), true)
  assert.deepEqual(changes.moving, [present(ingress)])
  assert.deepEqual(changes.apply, [moved])
  assert.deepEqual(changes.remove, [])
})

test('an Ingress with requests waits until the controller knows a new object to which it refers', () => {
  const isSwitching = (found: readonly KubeObject[], desired: readonly KubeObject[]): boolean =>
    planChanges(found, desired, new Map(), true).isSwitching
  assert.equal(isSwitching([], [service, ingress]), false)
  assert.equal(isSwitching([present(ingress)], [service, ingress]), true)
  assert.equal(isSwitching([present(service), present(ingress)], [service, ingress]), false)
})
