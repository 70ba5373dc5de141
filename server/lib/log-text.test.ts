import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textLine } from './log-text.ts'

const time = '2026-01-02T03:04:05.678Z'
/** The time of the terminal, not of the test. */
const localTime = new Date(time).toTimeString().slice(0, 8)
const line = (value: object): string =>
  textLine(`${JSON.stringify({ level: 'info', time, ...value })}\n`).replace(localTime, '03:04:05')

test('textLine shows the time, the message and the duration of an informational line', () => {
  assert.equal(line({ pid: 7, ms: 1849, msg: 'started' }), '03:04:05  Started  pid=7  (1.8 s)\n')
})

test('textLine shows the level and quotes details with spaces when a line is a warning', () => {
  assert.equal(
    line({ level: 'warn', reason: 'no room', ids: ['a'], msg: 'failed' }),
    '03:04:05  WARN  Failed  reason="no room"  ids=["a"]\n',
  )
})

test('textLine ends with the reason and the remedy of a line, without their names', () => {
  assert.equal(
    line({ level: 'warn', reason: 'The disk is full.', check: 'disk', remedy: 'Make room.', msg: 'found' }),
    '03:04:05  WARN  Found  check=disk  The disk is full.  Make room.\n',
  )
})

test('textLine puts the stack below the line when a line has an error', () => {
  const err = { type: 'Error', message: 'broken', stack: 'Error: broken\n    at here (x.ts:1:2)' }
  assert.equal(
    line({ level: 'error', err, msg: 'broken' }),
    '03:04:05  ERROR  Broken\n    Error: broken\n    at here (x.ts:1:2)\n',
  )
})

test('textLine shows the stacks of the causes of an error', () => {
  const err = { message: 'broken', stack: 'Error: broken', cause: { message: 'lost', stack: 'Error: lost' } }
  assert.equal(line({ err, msg: 'failed' }), '03:04:05  Failed\n    Error: broken\n    Caused by:\n    Error: lost\n')
})

test('textLine masks every control character of messages, names, values and stacks', () => {
  const text = line({ msg: 'a\u001b[2Jb\nc', 'x\r': 'd\u009be', f: '\u202eg', err: { stack: 'h\u0007' } })
  assert.equal(text, '03:04:05  A?[2Jb?c  x?=d?e  f=?g\n    h?\n')
})
