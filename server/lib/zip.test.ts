import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unzip } from './testing-unzip.ts'
import { zip } from './zip.ts'

test('what is zipped is there again', () => {
  const files = { 'main.tf': 'resource "a" "b" {}\n'.repeat(100), 'städte/ünicode.txt': 'ä', empty: '' }
  const archive = zip(files, new Date('2026-11-21T15:00:00Z'))
  assert.deepEqual(unzip(archive), files)
  assert.ok(archive.length < 1000)
})

test('an archive of nothing is one, too', () => {
  assert.deepEqual(unzip(zip({}, new Date())), {})
})
