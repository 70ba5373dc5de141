import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../lib/error.ts'
import { failureOf, pauseMs } from './decide.ts'
import { parseOutputs } from './outputs.ts'

const limits = { timeoutSeconds: 30, memoryMiB: 64 }

test('a failed run reports its first problem and the solution', () => {
  const well = { exitCode: 0, outOfMemory: false, timedOut: false }
  assert.equal(failureOf(well, limits), undefined)
  assert.match(
    failureOf({ ...well, exitCode: 137, outOfMemory: true }, limits) ?? '',
    /^It ran out of memory \(64 MiB\)/,
  )
  assert.match(failureOf({ ...well, exitCode: 137, timedOut: true }, limits) ?? '', /longer than 30 s/)
  assert.equal(failureOf({ ...well, exitCode: 3 }, limits), 'It ended with exit code 3.')
})

test('pauses between tries double, up to five minutes', () => {
  assert.deepEqual([1, 2, 3, 10].map(pauseMs), [1000, 2000, 4000, 300_000])
})

test('outputs are strings, numbers and booleans, and errors contain no values', () => {
  assert.deepEqual(parseOutputs('{"A": {"value": 5, "sensitive": true}, "B": {"value": false, "description": "b"}}'), [
    { key: 'A', value: '5', isSecret: true, description: '' },
    { key: 'B', value: 'false', isSecret: false, description: 'b' },
  ])
  const wrong: readonly [string, RegExp][] = [
    ['[1]', /must contain an object/],
    ['{"A": {"value": ["canary"]}}', /"A", whose value must be a string/],
    ['{"A": {"value": "canary", "sensitive": "yes"}}', /"A", whose sensitive must be true or false/],
    ['{"A": {"value": "canary", "description": 1}}', /"A", whose description must be a string/],
    ['canary', /is not JSON/],
  ]
  for (const [text, reason] of wrong) {
    assert.throws(
      () => parseOutputs(text),
      (error) => error instanceof AppError && reason.test(error.message) && !error.message.includes('canary'),
      text,
    )
  }
})
