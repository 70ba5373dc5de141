import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldChanges } from './audit-changes.ts'

test('only fields that differ are listed, by their path', () => {
  assert.deepEqual(fieldChanges('{"a":1,"b":{"c":"x","d":true}}', '{"a":1,"b":{"c":"y","d":true},"e":null}'), [
    { field: 'b.c', before: 'x', after: 'y' },
    { field: 'e', before: undefined, after: 'null' },
  ])
})

test('a created object has no fields before, and a list is one field', () => {
  assert.deepEqual(fieldChanges(null, '{"events":["A","B"]}'), [
    { field: 'events', before: undefined, after: '["A","B"]' },
  ])
})

test('text that is not JSON is shown as it is', () => {
  assert.deepEqual(fieldChanges(null, 'gone'), [{ field: 'value', before: undefined, after: 'gone' }])
})
