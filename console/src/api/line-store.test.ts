import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LineStore } from './line-store.ts'

const limits = { lines: 5, characters: 1_000 }
const storeOf = (): LineStore => new LineStore((work) => work(), limits)
const push = (store: LineStore, ...texts: string[]): void => {
  for (const text of texts) store.push({ at: 0, pod: 'a', text })
}
const textsOf = ({ lines }: LineStore): string[] =>
  Array.from({ length: lines.length }, (_, index) => lines.at(index)?.text ?? '')

test('a store keeps the newest lines, by their number and by their characters', () => {
  const store = storeOf()
  push(store, '1', '2', '3', '4', '5', '6', '7')
  assert.deepEqual(textsOf(store), ['3', '4', '5', '6', '7'])
  push(store, 'x'.repeat(998), 'y')
  assert.deepEqual(textsOf(store), ['7', 'x'.repeat(998), 'y'])
})

test('a filter shows the lines that match, also after older ones are dropped', () => {
  const store = storeOf()
  push(store, 'a1', 'b2', 'a3')
  store.filter(({ text }) => text.startsWith('a'))
  assert.deepEqual(textsOf(store), ['a1', 'a3'])
  push(store, 'b4', 'a5', 'b6', 'b7')
  assert.deepEqual(textsOf(store), ['a3', 'a5'])
  store.filter(undefined)
  assert.deepEqual(textsOf(store), ['a3', 'b4', 'a5', 'b6', 'b7'])
})

test('a store that holds counts new lines and adds them later', () => {
  const store = storeOf()
  push(store, '1', '2')
  store.hold()
  push(store, '3', '4', '5', '6', '7', '8', '9')
  assert.deepEqual([store.waiting, textsOf(store)], [7, ['1', '2']])
  store.release()
  assert.deepEqual([store.waiting, textsOf(store)], [undefined, ['5', '6', '7', '8', '9']])
})

test('listeners are called once for all lines until the next drawing', () => {
  const works: (() => void)[] = []
  const store = new LineStore((work) => void works.push(work), limits)
  let calls = 0
  store.subscribe(() => calls++)
  push(store, '1', '2', '3')
  works.forEach((work) => void work())
  assert.deepEqual([works.length, calls, store.version], [1, 1, 1])
})
