import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { test } from 'node:test'
import { sourceFiles } from './source-files.ts'

const root = join(import.meta.dirname, '..', '..')

const statement = /^(?:import|export) (type )?(?:(\{[^}]*\}|\*(?: as \w+)?|[\w$]+(?:, \{[^}]*\})?) from )?'([^']+)'/gm

/** Whether a list of names in braces has a value in it, and not only types. */
const hasValue = (names: string): boolean =>
  !names.startsWith('{') ||
  names
    .replace(/[{}]/g, '')
    .split(',')
    .some((name) => name.trim() !== '' && !/^\s*type /.test(name))

/** Returns the files whose values a text imports. Imports of types leave nothing to run. */
function valuesFrom(file: string, text: string): string[] {
  return [...text.matchAll(statement)].flatMap(([, type, names = '*', specifier = '']) => {
    if (type !== undefined || !hasValue(names)) return []
    if (specifier.startsWith('@quayside/contract/')) return [specifier.replace('@quayside/', '')]
    return specifier.startsWith('.') ? [posix.normalize(posix.join(dirname(file), specifier))] : []
  })
}

/** Returns each cycle of a graph once, as a path that ends where it begins. */
function cyclesOf(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const cycles: string[] = []
  const done = new Set<string>()
  const visit = (node: string, above: readonly string[]): void => {
    const at = above.indexOf(node)
    if (at !== -1) cycles.push([...above.slice(at), node].join(' → '))
    if (at !== -1 || done.has(node)) return
    for (const next of graph.get(node) ?? []) visit(next, [...above, node])
    done.add(node)
  }
  for (const node of graph.keys()) visit(node, [])
  return cycles
}

test('imports of values are distinguished from imports of types, and a cycle is found', () => {
  const text =
    "import { type A, b } from './b.ts'\nimport { type C } from './c.ts'\nexport * from '../d.ts'\nimport " +
    "type E from './e.ts'"
  assert.deepEqual(valuesFrom('server/x/a.ts', text), ['server/x/b.ts', 'server/d.ts'])
  const graph = new Map([
    ['a', ['b']],
    ['b', ['c', 'd']],
    ['c', ['b']],
  ])
  assert.deepEqual(cyclesOf(graph), ['b → c → b'])
})

test('no file imports values from itself through other files', () => {
  const graph = new Map(
    sourceFiles().map((file) => [file, valuesFrom(file, readFileSync(join(root, file), 'utf8'))] as const),
  )
  assert.ok([...graph.values()].reduce((sum, files) => sum + files.length, 0) > 2000)
  assert.deepEqual(cyclesOf(graph), [], 'move what both need into a file of its own, or import the type only')
})
