import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasComputedImport, readImports } from './read-imports.ts'

test('readImports returns statements, calls and types, and which of them are types only', () => {
  const text = [
    "import './effect.ts'",
    "import whole, { type A, b } from 'library'",
    "import type { C } from './c.ts'",
    "export * from './d.ts'",
    "const { e } = await import('other-library')",
    'const f = import(',
    "  './f.ts',",
    ')',
    "const h = (await import('./h.ts')).h",
    "void import('./i.ts').then(({ i }) => i)",
    "let g: import('./g.ts').G",
    "let names: keyof typeof import('./k.ts')",
  ].join('\n')
  const found = readImports(text)
  const named = (typeOnly: boolean) => found.filter((one) => one.typeOnly === typeOnly).map((one) => one.specifier)
  assert.deepEqual(named(false), ['./effect.ts', 'library', './d.ts', 'other-library', './f.ts', './h.ts', './i.ts'])
  assert.deepEqual(named(true), ['./c.ts', './g.ts', './k.ts'])
})

test('hasComputedImport recognizes a module that is not a plain string', () => {
  for (const text of ['await import(name)', 'import(`./a.ts`)', "import('./' + name)"])
    assert.ok(hasComputedImport(text), text)
  for (const text of ["await import('./a.ts')", "import(\n  './a.ts',\n)", "const text = 'import(name)'"])
    assert.ok(!hasComputedImport(text), text)
})
