import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RenderedObject } from '../../engine.ts'
import { compare as compareInWorker } from './compare.ts'
import { compareObjects } from './compare-objects.ts'

const object = (kind: string, name: string, rest: object = {}, metadata: object = {}): RenderedObject => ({
  ...{ apiVersion: 'v1', kind, metadata: { name, ...metadata } },
  ...rest,
})
const compare = (before: readonly RenderedObject[], after: readonly RenderedObject[]) =>
  compareObjects({ before, after, home: 'home' })
const fields = (before: RenderedObject, after: RenderedObject) =>
  compare([before], [after])[0]?.fields.map(({ path, before: was, after: is, isHidden }) =>
    isHidden ? [path] : [path, was, is],
  )

test('objects are created, changed and deleted, wherever their namespace is written', () => {
  const before = [object('ConfigMap', 'old'), object('ConfigMap', 'same', {}, { namespace: 'home' })]
  const after = [object('ConfigMap', 'same'), object('ConfigMap', 'new', {}, { namespace: 'other' })]
  assert.deepEqual(
    compare(before, after).map(({ change, name, namespace }) => [change, name, namespace]),
    [
      ['CREATE', 'new', 'other'],
      ['DELETE', 'old', undefined],
    ],
  )
})

test('a new object has all of its members, with their values', () => {
  const [change] = compare([], [object('ConfigMap', 'new', { data: { a: 'x' }, empty: {} })])
  assert.deepEqual(change?.fields, [
    { path: 'data.a', before: undefined, after: '"x"', isHidden: false },
    { path: 'empty', before: undefined, after: '{}', isHidden: false },
  ])
})

test('items of lists are compared by their names', () => {
  const pod = (...containers: object[]) => object('Pod', 'p', { spec: { containers } })
  const before = pod({ name: 'a', image: 'one' }, { name: 'b', image: 'x' })
  const after = pod({ name: 'b', image: 'x' }, { name: 'a', image: 'two' })
  assert.deepEqual(fields(before, after), [['spec.containers[a].image', '"one"', '"two"']])
})

test('a member that becomes a list differs as a whole', () => {
  const of = (command: unknown) => object('Pod', 'p', { spec: { command } })
  assert.deepEqual(fields(of({ a: 1 }), of(['a'])), [['spec.command', '{"a":1}', '["a"]']])
  assert.deepEqual(fields(of(1), of(['a'])), [['spec.command', '1', '["a"]']])
})

test('values of Secrets are left out', () => {
  const secret = (word: string) => object('Secret', 's', { stringData: { word } }, { labels: { word } })
  assert.deepEqual(fields(secret('one'), secret('two')), [
    ['metadata.labels.word', '"one"', '"two"'],
    ['stringData.word'],
  ])
  assert.deepEqual(compare([], [object('Secret', 's', { data: { word: 'b25l' } })])[0]?.fields, [
    { path: 'data.word', before: undefined, after: undefined, isHidden: true },
  ])
})

test('values of Secrets are hidden where other objects repeat them', () => {
  const before = [
    object('Secret', 's', { data: { password: Buffer.from('hunter2 of old').toString('base64') } }),
    object('ConfigMap', 'c', { data: { url: 'x://me:hunter2 of old@db', word: 'hunter2 of old' } }),
  ]
  const after = [
    object('Secret', 's', { stringData: { password: 'hunter2 of new' } }),
    object('ConfigMap', 'c', { data: { url: 'y://me:hunter2 of new@db', word: 'hunter2 of new' } }),
  ]
  assert.deepEqual(compare(before, after).find(({ kind }) => kind === 'ConfigMap')?.fields, [
    { path: 'data.url', before: '"x://me:******@db"', after: '"y://me:******@db"', isHidden: false },
    { path: 'data.word', before: undefined, after: undefined, isHidden: true },
  ])
})

test('another release of the platform is no change', () => {
  const of = (release: string) => object('ConfigMap', 'c', {}, { labels: { 'quayside.io/release': release } })
  assert.deepEqual(compare([of('1')], [of('2')]), [])
})

test('deep objects and very many members are compared within the limits', async () => {
  const deep = (end: string): unknown => Array.from({ length: 500 }).reduce((inner) => ({ inner }), end)
  const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`key${at}`, 'x'.repeat(50)]))
  const before = [object('ConfigMap', 'deep', { data: deep('one') })]
  const after = [object('ConfigMap', 'deep', { data: deep('two') }), object('ConfigMap', 'wide', { data: wide })]
  const [changed, created] = await compareInWorker({ before, after, home: 'home' })
  assert.equal(changed?.fields.length, 1)
  assert.deepEqual([created?.fields.length, created?.omitted], [50, 99_950])
})
