import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainText, readAnsi } from './ansi.ts'
import { levelOf } from './level.ts'
import { visibleText } from './safe-text.ts'

test('colours of a terminal become pieces, and its other commands are dropped', () => {
  assert.deepEqual(readAnsi('a \u001b[1;31mred\u001b[0m b'), [
    { text: 'a ' },
    { text: 'red', isBold: true, colour: 'red' },
    { text: ' b' },
  ])
  assert.deepEqual(readAnsi('\u001b[38;5;2mgreen\u001b[39m\u001b[38;2;1;2;3mown'), [
    { text: 'green', colour: 'green' },
    { text: 'own' },
  ])
  assert.equal(plainText('\u001b[2J\u001b]8;;https://x.test\u001b\\link\u001b]8;;\u0007 \u001b[?25lend'), 'link end')
  assert.equal(plainText('cut off \u001b[38;5'), 'cut off ')
  assert.equal(plainText('\u001b'), '')
})

test('characters that cannot be seen are shown by their code', () => {
  assert.equal(visibleText('a\tb\r\u202e\u0000'), 'a\tb‹0d›‹202e›‹00›')
})

test('a level is the first word of a line that names one', () => {
  const lines = [
    '2026-01-01 ERROR no warning',
    '[warn] x',
    '{"level":30,"msg":"error"}',
    'level=debug',
    'terror',
    `${'x'.repeat(150)} error`,
  ]
  assert.deepEqual(lines.map(levelOf), ['error', 'warning', 'info', 'debug', 'other', 'other'])
})
