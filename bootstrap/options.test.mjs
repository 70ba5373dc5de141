import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readOptions } from './options.mjs'

test('readOptions returns the options when all of them are known', () => {
  assert.deepEqual(readOptions(['--yes', '--keep-data'], ['--yes']), ['--yes'])
  assert.deepEqual(readOptions([], []), [])
})

test('readOptions names the unknown options and lists the known ones', () => {
  assert.throws(() => readOptions(['--yes', '--keep-data'], ['--yes', '--no', 'x']), {
    message: 'There is no option --no x. Known options: --yes, --keep-data.',
  })
  assert.throws(() => readOptions([], ['--port=1']), {
    message: 'There is no option --port=1. This command has no options.',
  })
})
