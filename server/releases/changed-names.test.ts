import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changedNames } from './changed-names.ts'

test('changedNames ignores the order of members and treats a missing one as null', () => {
  assert.deepEqual(
    changedNames({ a: { x: 1, y: [{ p: 1, q: 2 }] }, b: null }, { a: { y: [{ q: 2, p: 1 }], x: 1 } }),
    [],
  )
  assert.deepEqual(changedNames({ a: { x: 1 }, b: 1 }, { a: 'text', c: false }), ['a', 'b', 'c'])
})
