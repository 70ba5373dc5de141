import assert from 'node:assert/strict'
import test from 'node:test'
import { createLog, describe } from './log.ts'

test('createLog writes a JSON object a line and skips repeated messages', () => {
  const lines: string[] = []
  const log = createLog((line) => lines.push(line))
  log.warn('failed', { host: 'a\nb' })
  log.warn('failed', { host: 'a\nb' })
  log.warn('failed', { host: 'c' })
  assert.equal(lines.length, 2)
  const { level, host, msg } = JSON.parse(lines[0] ?? '')
  assert.deepEqual([level, host, msg], ['warn', 'a\nb', 'failed'])
  assert.ok(lines.every((line) => line.indexOf('\n') === line.length - 1))
})

test('describe includes the code of an error once', () => {
  assert.equal(describe(Object.assign(new Error('no'), { code: 'E1' })), 'no (E1)')
  assert.equal(describe(Object.assign(new Error('no E1'), { code: 'E1' })), 'no E1')
  assert.equal(describe('text'), 'text')
})
