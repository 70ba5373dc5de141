import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textLine } from './log-text.ts'

const time = '2026-01-02T03:04:05.678Z'
const line = (value: object): string => textLine(`${JSON.stringify({ level: 'info', time, ...value })}\n`)

test('textLine shows the time, the message and the duration of an informational line', () => {
  assert.equal(line({ pid: 7, ms: 1849, msg: 'started' }), '03:04:05  Started  pid=7  (1.8 s)\n')
})

test('textLine shows the level and quotes details with spaces when a line is a warning', () => {
  assert.equal(
    line({ level: 'warn', reason: 'no room', ids: ['a'], msg: 'failed' }),
    '03:04:05  WARN  Failed  reason="no room"  ids=["a"]\n',
  )
})

test('textLine puts the stack below the line when a line has an error', () => {
  const err = { type: 'Error', message: 'broken', stack: 'Error: broken\n    at here (x.ts:1:2)' }
  assert.equal(line({ level: 'error', err }), '03:04:05  ERROR  Broken\n    Error: broken\n    at here (x.ts:1:2)\n')
})

test('textLine masks every control character of messages, names, values and stacks', () => {
  const text = line({ msg: 'a\u001b[2Jb\nc', 'x\r': 'd\u009be', f: '\u202eg', err: { stack: 'h\u0007' } })
  assert.equal(text, '03:04:05  A?[2Jb?c  x?=d?e  f=?g\n    h?\n')
})
