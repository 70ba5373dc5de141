import assert from 'node:assert/strict'
import { test } from 'node:test'
import { etagOf, hasCurrent, readTags, requireCurrent } from './conditions.ts'

const [a, b] = [etagOf('{"name":"a"}'), etagOf('{"name":"b"}')]

test('an entity tag is strong, and differs when the text differs', () => {
  assert.match(a, /^"[\w-]{27}"$/)
  assert.notEqual(a, b)
  assert.equal(a, etagOf('{"name":"a"}'))
})

test('readTags reads a list of entity tags and rejects everything else', () => {
  assert.equal(readTags({}, 'if-match'), undefined)
  assert.equal(readTags({ 'if-match': '*' }, 'if-match'), '*')
  assert.deepEqual(readTags({ 'if-match': `${a} ,W/${b}` }, 'if-match'), [a, `W/${b}`])
  for (const text of ['', 'abc', `${a},`, `${a} ${b}`, '"a', '*, *']) {
    assert.throws(() => readTags({ 'if-match': text }, 'if-match'), /^AppError: If-Match must be/, text)
  }
})

test('If-Match compares strongly, If-None-Match weakly', () => {
  requireCurrent('*', a)
  requireCurrent([b, a], a)
  for (const tags of [[b], [`W/${a}`], []]) assert.throws(() => requireCurrent(tags, a), { code: 'preconditionFailed' })
  assert.ok(hasCurrent('*', a) && hasCurrent([a], a) && hasCurrent([`W/${a}`], a))
  assert.ok(!hasCurrent([b], a))
})
