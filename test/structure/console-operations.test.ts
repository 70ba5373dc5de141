import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { contract, type Operation } from '@quayside/contract'
import { unused } from './console-operations.ts'

const root = resolve(import.meta.dirname, '..', '..', 'console', 'src')

/** A use of the client, but not of its types. The second group has the names with dashes. */
const use = /(?<!typeof )\bapi(?:\.(\w+)|\['([\w-]+)'\])/g

/** The operations that the sources of the console call. */
const used = new Set(
  globSync('**/*.{ts,tsx}', { cwd: root, exclude: ['**/*.test.ts'] }).flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(use)].map(([, name, dashed]) => name ?? dashed ?? ''),
  ),
)
const operations = new Map<string, Operation>(Object.entries(contract))
const explained = unused.flatMap(({ operations: names }) => names)
/** An operation that always refuses offers nothing. */
const refuses = [...operations].filter(([, { refuses: reason }]) => reason !== undefined).map(([name]) => name)

test('the console uses each operation, or the table says why a person needs it not', () => {
  assert.ok(used.size > 200, `${used.size} operations`)
  const known = new Set<string>([...used, ...explained, ...refuses])
  assert.deepEqual(
    [...operations.keys()].filter((name) => !known.has(name)),
    [],
  )
})

test('the table has no operation that the console uses, that refuses or that the contract lacks', () => {
  const stale = explained.filter((name) => used.has(name) || refuses.includes(name) || !operations.has(name))
  assert.deepEqual(stale, [])
  assert.deepEqual(
    explained.filter((name, at) => explained.indexOf(name) !== at),
    [],
  )
})

test('each reason of the table is a sentence about today', () => {
  const vague = unused.filter(
    ({ because }) => because.length < 20 || /\b(?:later|yet|todo|soon|future)\b/i.test(because),
  )
  assert.deepEqual(vague, [])
})
