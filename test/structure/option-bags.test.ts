import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sourceFiles } from './source-files.ts'

// What a room needs from others is named by roles, so that a reader sees what each function may do.

const root = join(import.meta.dirname, '..', '..')
const mostMembers = 9
/** Shapes of others. */
const foreign = ['ContainerCreateOptions']

/** Returns each interface of options with the number of its own members. The code is formatted. */
const bagsOf = (text: string): [name: string, members: number][] =>
  [...text.matchAll(/^(?:export )?interface (\w+Options)\b[^{]*\{\n([\s\S]*?)\n\}/gm)].map(
    ([, name = '', body = '']) => [name, [...body.matchAll(/^ {2}(?:readonly )?\w+\??[:(<]/gm)].length],
  )

test('options have few members of their own and extend named roles', () => {
  const found = sourceFiles()
    .filter((path) => /^(?:server|router)\//.test(path))
    .flatMap((path) => bagsOf(readFileSync(join(root, path), 'utf8')).map((bag) => [path, ...bag] as const))
  assert.ok(found.length > 50, 'the interfaces of options were found')
  const bags = found.filter(([, name, members]) => members > mostMembers && !foreign.includes(name))
  assert.deepEqual(bags, [])
})

test('members are counted, those of their types are not', () => {
  const text =
    'interface AOptions extends B {\n  readonly a: 1\n  b?(c: 2): {\n    d: 3\n  }\n}\ninterface C {\n  e: 4\n}\n'
  assert.deepEqual(bagsOf(text), [['AOptions', 2]])
})
