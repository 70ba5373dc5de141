import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { test } from 'node:test'
import { parse } from 'acorn'
import { full } from 'acorn-walk'
import { transformSync } from 'esbuild'
import { analyse } from 'scslre'
import { sourceFiles } from './source-files.ts'

interface Found {
  readonly where: string
  readonly source: string
  readonly flags: string
}

/**
 * Expressions that are made of text while the program runs, and why their time is in proportion to
 * what they read.
 */
const made: Readonly<Record<string, string>> = {
  'bootstrap/network-store.mjs':
    'reads a file of Docker for a key of ours; every part begins with another character than the one before ends with',
  'bootstrap/suites.mjs': 'reads names of our own files',
  'server/builders/image-names.ts': 'of constants; reads a name of at most 500 characters',
  'server/engines/docker/image-reference.ts': 'of constants; reads a reference of at most some hundred characters',
  'server/http/other-methods.ts': 'of paths of the contract, a segment for each parameter',
  'server/repositories/hcl.ts': 'a word between blanks at the beginning of a line',
  'server/registries/image-registry.ts': 'of a constant; each part ends where a separator begins',
}

/** Returns the JavaScript of a file. Markup becomes calls. */
function scriptOf(file: string, text: string): string {
  if (file.endsWith('.tsx')) return transformSync(text, { loader: 'tsx', jsx: 'automatic' }).code
  return file.endsWith('.ts') ? stripTypeScriptTypes(text) : text
}

function expressionsOf(file: string): { literals: Found[]; isMade: boolean } {
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
  const literals: Found[] = []
  let isMade = false
  const code = scriptOf(file, text)
  full(parse(code, { ecmaVersion: 'latest', sourceType: 'module', locations: true }), (node) => {
    if (node.type === 'Literal' && node.regex) {
      const { pattern: source, flags } = node.regex
      literals.push({ where: `${file}:${node.loc?.start.line}`, source, flags })
    }
    const isCall = node.type === 'NewExpression' || node.type === 'CallExpression'
    if (isCall && node.callee.type === 'Identifier' && node.callee.name === 'RegExp') isMade = true
  })
  return { literals, isMade }
}

/**
 * Backtracking, and beginning again at each character: both take time in the square of the text, or
 * worse.
 */
const isSlow = ({ source, flags }: Pick<Found, 'source' | 'flags'>): boolean =>
  analyse({ source, flags }, { reportTypes: { Move: true, Self: true, Trade: true }, maxReports: 1 }).reports.length > 0

const sources = sourceFiles()
const found = sources.map((file) => ({ file, ...expressionsOf(file) }))

test('the check sees expressions that take too long', () => {
  for (const bad of [/^(a+)+$/, /a*a*b/, /\s+$/, /x.*y.*z/]) assert.ok(isSlow(bad), String(bad))
  for (const good of [/^a+b*$/, /^\s*a/, /[a-z]+/]) assert.ok(!isSlow(good), String(good))
  assert.ok(found.reduce((sum, { literals }) => sum + literals.length, 0) > 200)
})

test('every regular expression takes time in proportion to the text', () => {
  const slow = found.flatMap(({ literals }) => literals).filter(isSlow)
  assert.deepEqual(
    slow.map(({ where, source, flags }) => `${where} /${source}/${flags}`),
    [],
    'write a scanner, or see server/lib/trim.ts',
  )
})

test('expressions that are made of text are known, with the reason why they are harmless', () => {
  const files = found.filter(({ isMade }) => isMade).map(({ file }) => file)
  assert.deepEqual(files.sort(), Object.keys(made).sort())
})
