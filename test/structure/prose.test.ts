import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'

const root = resolve(import.meta.dirname, '..', '..')
const folders = ['bench', 'bootstrap', 'client', 'console', 'contract', 'router', 'server', 'test']

/** The longest line of a comment, in columns. */
const commentColumns = 100

/** Phrases with a plainer form. */
const phrases = [
  'is told',
  'are told',
  'told of',
  'tells of',
  'anew',
  'once more',
  'for ever',
  'former',
  'latter',
  'way back',
  'leads back',
  'under way',
  'at rest',
  'goes on',
  'go on',
  'stays as it',
  'lets go of',
  'gives up',
  'given up',
  'but for',
  'whoever',
  'those who',
]
const plainer = new RegExp(`\\b(?:${phrases.join('|')})\\b`, 'i')

/** Returns the comment or the name of a test in a line. Undefined for other lines. */
function proseOf(line: string): string | undefined {
  const text = line.trim()
  if (text.includes('@typedef')) return undefined
  if (text.startsWith('/*') || text.startsWith('* ') || text.startsWith('// ')) return text
  const named = /^(?:test|it|describe)(?:\.\w+)?\((['`])/.exec(text)
  if (named) return text
  const comment = line.indexOf(' // ')
  return comment >= 0 && !line.slice(0, comment).includes("'") ? line.slice(comment + 1) : undefined
}

const isComment = (line: string): boolean => /^\s*(?:\/\*\*|\* |\/\/ )/.test(line)
/** Addresses, instructions for tools and heads of aligned columns cannot be wrapped. */
const isFixed = (line: string): boolean =>
  line.includes('https://') || /\/\/ (?:biome-ignore|@ts-)/.test(line) || / {4}\S/.test(line.trimStart())

const files = globSync(
  folders.map((folder) => `${folder}/**/*.{ts,tsx,mjs}`),
  { cwd: root },
)
  .filter((file) => !file.includes('node_modules'))
  .sort()
const lines = files.flatMap((file) =>
  readFileSync(join(root, file), 'utf8')
    .split('\n')
    .map((line, index) => ({ file, line, where: `${file}:${index + 1}` })),
)
test('comments have at most a hundred columns', () => {
  const long = lines.filter(({ line }) => line.length > commentColumns && isComment(line) && !isFixed(line))
  assert.deepEqual(
    long.map(({ where }) => where),
    [],
  )
})

test('pages use plain words outside of code and names of files', () => {
  const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root }).sort()
  const dressed = pages.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .replaceAll(/^```[\s\S]*?^```/gm, (code) => code.replaceAll(/[^\n]/g, ''))
      .split('\n')
      .map((line, index) => ({ where: `${file}:${index + 1}`, line: line.replaceAll(/`[^`]*`|\]\([^)]*\)/g, '') }))
      .filter(({ line }) => plainer.test(line)),
  )
  assert.deepEqual(
    dressed.map(({ where, line }) => `${where}: ${line}`),
    [],
  )
})

test('comments and names of tests use plain words', () => {
  const dressed = lines
    .filter(({ file }) => file !== 'test/structure/prose.test.ts')
    .filter(({ line }) => plainer.test(proseOf(line) ?? ''))
  assert.deepEqual(
    dressed.map(({ where, line }) => `${where}: ${line.trim()}`),
    [],
  )
})
