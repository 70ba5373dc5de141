import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { test } from 'node:test'
import { bootstrapExceptions, bootstrapImporters } from './imports.ts'
import { readImports } from './read-imports.ts'

const root = resolve(import.meta.dirname, '..', '..')
const rooms = ['bench', 'client', 'console', 'contract', 'images', 'router', 'server', 'test']
const find = (folders: readonly string[]): string[] =>
  globSync(
    folders.map((folder) => `${folder}/**/*.{mjs,ts}`),
    { cwd: root },
  ).filter((path) => !path.includes('node_modules') && !path.endsWith('.d.ts'))

/** Returns what a file imports: files as paths from the root, modules by their names. */
function importsOf(path: string): string[] {
  return readImports(readFileSync(join(root, path), 'utf8'))
    .map(({ specifier }) => specifier)
    .map((specifier) =>
      specifier.startsWith('.') ? relative(root, resolve(root, dirname(path), specifier)) : specifier,
    )
}

const files = new Map(find(['bootstrap']).map((path) => [path, importsOf(path)]))
const isNode = (name: string): boolean => name.startsWith('node:') && isBuiltin(name)

/** Imports that a table does not allow, and entries of the table that no import uses. */
function compare(
  found: Iterable<readonly [string, readonly string[]]>,
  table: Readonly<Record<string, readonly string[]>>,
): { wrong: string[]; unused: string[] } {
  const present = [...found].flatMap(([path, others]) => others.map((other) => `${path} → ${other}`))
  const allowed = Object.entries(table).flatMap(([path, others]) => others.map((other) => `${path} → ${other}`))
  return {
    wrong: present.filter((one) => !allowed.includes(one)),
    unused: allowed.filter((one) => !present.includes(one)),
  }
}

test('the files of bootstrap are read with their imports', () => {
  assert.ok(files.size > 40, `${files.size} files`)
  assert.ok(files.get('bootstrap/start.mjs')?.includes('bootstrap/prepare.mjs'))
  assert.ok(files.get('bootstrap/prepare.mjs')?.includes('node:fs'))
  assert.ok([...files.values()].flat().length > 200)
})

test('bootstrap imports modules of Node.js and its own files only', () => {
  const others = [...files].map(
    ([path, imports]) => [path, imports.filter((name) => !isNode(name) && !files.has(name))] as const,
  )
  assert.deepEqual(compare(others, bootstrapExceptions), { wrong: [], unused: [] })
})

test('programs of bootstrap import no tests', () => {
  const wrong = [...files].filter(
    ([path, imports]) => !path.endsWith('.test.mjs') && imports.some((name) => name.endsWith('.test.mjs')),
  )
  assert.deepEqual(wrong, [])
})

test('no file outside of bootstrap imports it, except for listed tests', () => {
  const importers = find(rooms).map(
    (path) => [path, importsOf(path).filter((name) => name.startsWith('bootstrap/'))] as const,
  )
  assert.deepEqual(compare(importers, bootstrapImporters), { wrong: [], unused: [] })
})

test('the files of bootstrap import each other without a cycle', () => {
  const done = new Set<string>()
  const visit = (path: string, above: readonly string[]): void => {
    assert.ok(!above.includes(path), `cycle: ${[...above, path].join(' → ')}`)
    if (done.has(path)) return
    for (const next of files.get(path) ?? []) visit(next, [...above, path])
    done.add(path)
  }
  for (const path of files.keys()) visit(path, [])
})

test('the compiler is never silenced in bootstrap', () => {
  const silenced = /@ts-(?:ignore|expect-error|nocheck)|\{(?:[^}]*[<|,(:\s])?any(?:[\]>|,)\s][^}]*)?\}/
  const wrong = [...files.keys()].filter((path) => {
    const comments = readFileSync(join(root, path), 'utf8').match(/\/\*\*[\s\S]*?\*\/|\/\/[^\n]*/g) ?? []
    return comments.some((comment) => /@ts-|@(?:param|type|returns|typedef)/.test(comment) && silenced.test(comment))
  })
  assert.deepEqual(wrong, [])
})
