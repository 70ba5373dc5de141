import assert from 'node:assert/strict'
import { test } from 'node:test'
import { absolute, atMost } from './figure.ts'
import { table } from './table.ts'

const held = absolute('quick', 5, 'ms', atMost(10))
const missed = absolute('slow', 20, 'ms', atMost(10))
const lastOf = (text: string): string | undefined => text.split('\n').at(-1)

test('the last line says that all goals are met only if every figure was measured', () => {
  assert.equal(lastOf(table([held])), 'All goals met.')
  assert.equal(lastOf(table([held, missed])), 'Missed: slow.')
  assert.equal(lastOf(table([held], ['lost'])), 'Not measured because of an error: lost.')
  assert.equal(lastOf(table([missed], ['lost', 'gone'])), 'Missed: slow. Not measured because of an error: lost, gone.')
  assert.equal(lastOf(table([], ['lost'])), 'Not measured because of an error: lost.')
})

test('a figure that was not measured has a row', () => {
  const row = table([held], ['lost'])
    .split('\n')
    .find((line) => line.startsWith('lost'))
  assert.match(String(row), /^lost +ERROR$/)
})

test('a table without figures does not say that goals are met', () => {
  assert.match(table([]), /\nNothing was measured\.$/)
})
