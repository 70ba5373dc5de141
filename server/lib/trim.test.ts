import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutEnd, withoutEnds } from './trim.ts'

test('characters are taken from the ends, and from nowhere else', () => {
  assert.equal(withoutEnd('/a//b//', '/'), '/a//b')
  assert.equal(withoutEnds('-_a-b_-', '-_'), 'a-b')
  assert.equal(withoutEnds('///', '/'), '')
  assert.equal(withoutEnd('', '/'), '')
})

test('trimming skips a million characters that are not at the end in linear time', () => {
  const begun = performance.now()
  withoutEnd(`${'/'.repeat(1_000_000)}a`, '/')
  assert.ok(performance.now() - begun < 1000)
})
