import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { codeOf } from './code-of.ts'

const root = resolve(import.meta.dirname, '..', '..')

const files = globSync('server/composition/*.ts', { cwd: root })
  .filter((path) => !path.endsWith('.test.ts'))
  .map((path) => ({ path, code: codeOf(readFileSync(join(root, path), 'utf8')) }))

/**
 * Words and signs of control flow. A conditional expression has a space on both sides of its `?`.
 */
const controlFlow = /\b(?:if|for|while|do|switch|try|catch|throw|await|async|yield)\b| \? /g
/** The order in which the parts of a server end: it may wait for each, and decides nothing. */
const lifecycle = 'server/composition/lifecycle.ts'
const waits = ['async', 'await', 'catch']
/** A query, or a call that sends one. */
const sql = /\b(?:sql|database|tx)(?:<[^`]*>)?`/

test('control flow is found in code, and not in comments and strings', () => {
  const found = (text: string) => (codeOf(text).match(controlFlow) ?? []).map((word) => word.trim())
  assert.deepEqual(found("if (a) return b ? 'for' : `while` // try"), ['if', '?'])
  assert.deepEqual(found('const a = async (b?: string) => await b?.c ?? /if for/'), ['async', 'await'])
  assert.deepEqual(found('/** Does something if it may. */\nexport const one = { two }'), [])
})

test('the composition has files', () => {
  assert.ok(files.length >= 8, `${files.length} files`)
})

test('files of the composition join rooms: they decide nothing and wait for nothing', () => {
  const wrong = files.flatMap(({ path, code }) =>
    code.split('\n').flatMap((line, index) => {
      const words = (line.match(controlFlow) ?? []).map((word) => word.trim())
      const found = path === lifecycle ? words.filter((word) => !waits.includes(word)) : words
      return found.length > 0 ? [`${path}:${index + 1}: ${found.join(' ')}`] : []
    }),
  )
  assert.deepEqual(wrong, [], 'a rule belongs to the room that owns it, with a test beside it')
})

test('files of the composition send no query', () => {
  assert.deepEqual(
    files.filter(({ code }) => sql.test(code)).map(({ path }) => path),
    [],
  )
})
