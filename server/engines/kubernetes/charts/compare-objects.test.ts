import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RenderedObject } from '../../engine.ts'
import { compareObjects } from './compare-objects.ts'

const object = (kind: string, name: string, rest: object = {}, metadata: object = {}): RenderedObject => ({
  ...{ apiVersion: 'v1', kind, metadata: { name, ...metadata } },
  ...rest,
})
const home = 'home'

test('objects are created, changed and deleted, wherever their namespace is written', () => {
  const before = [object('ConfigMap', 'old'), object('ConfigMap', 'same', {}, { namespace: home })]
  const after = [object('ConfigMap', 'same'), object('ConfigMap', 'new', {}, { namespace: 'other' })]
  assert.deepEqual(
    compareObjects(before, after, home).map(({ change, name, namespace }) => [change, name, namespace]),
    [
      ['CREATE', 'new', 'other'],
      ['DELETE', 'old', undefined],
    ],
  )
})

test('items of lists are compared by their names', () => {
  const pod = (...containers: object[]) => object('Pod', 'p', { spec: { containers } })
  const before = pod({ name: 'a', image: 'one' }, { name: 'b', image: 'x' })
  const after = pod({ name: 'b', image: 'x' }, { name: 'a', image: 'two' })
  assert.deepEqual(compareObjects([before], [after], home)[0]?.fields, [
    { path: 'spec.containers[a].image', before: '"one"', after: '"two"' },
  ])
})

test('values of Secrets are left out', () => {
  const secret = (word: string) => object('Secret', 's', { stringData: { word } }, { labels: { word } })
  assert.deepEqual(compareObjects([secret('one')], [secret('two')], home)[0]?.fields, [
    { path: 'metadata.labels.word', before: '"one"', after: '"two"' },
    { path: 'stringData.word', before: undefined, after: undefined },
  ])
})

test('another release of the platform is no change', () => {
  const of = (release: string) => object('ConfigMap', 'c', {}, { labels: { 'quayside.io/release': release } })
  assert.deepEqual(compareObjects([of('1')], [of('2')], home), [])
})
