import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import fc from 'fast-check'
import { buildGoProgram } from '../../test/support/buildkit-parser.ts'
import { start } from '../lib/run.ts'
import { BuildError } from './builder.ts'
import { createIgnorer, ignoreFileNames } from './ignore-file.ts'

const excluded = (text: string, paths: readonly string[]): string[] => {
  const ignorer = createIgnorer({ path: '.dockerignore', text })
  return paths.filter((path) => ignorer.excludes(path))
}

/** Ignore file, excluded paths, kept paths. */
const table: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['.env', ['.env', '.env/a'], ['a/.env', '.env2', 'x.env']],
  ['/.env\n', ['.env'], ['a/.env']],
  ['**/.env', ['.env', 'a/.env', 'a/b/.env'], ['a.env']],
  ['*.md\n!README.md', ['a.md'], ['README.md', 'a/b.md']],
  ['a\n!a/b', ['a', 'a/c', 'a/c/d'], ['a/b', 'a/b/c']],
  ['*\n!src\nsrc/*.test', ['x', 'src/a.test'], ['src', 'src/a']],
  ['a/b\n!a', ['a/b', 'a/b/c'], ['a']],
  ['# .env\n #a', ['#a'], ['.env', '# .env']],
  ['\uFEFFa\r\n b \r\n', ['a', 'b'], [' b']],
  ['./a/../b//c/', ['b/c', 'b/c/d'], ['a', 'b']],
  ['! a\nb\n! b', [], ['a', 'b']],
  ['a/**', ['a/b', 'a/b/c'], ['a', 'ab']],
  ['a/**/z', ['a/z', 'a/b/c/z'], ['a', 'z']],
  ['**foo', ['xfoo', 'a/xfoo'], ['foox']],
  ['**', ['a', 'a/b'], []],
  ['a?c', ['abc', 'aéc', 'a😀c'], ['a/c', 'ac']],
  ['[a-c]x\n[^a-z]y', ['bx', 'Ay', '1y'], ['dx', 'ay']],
  ['a\\*b', ['a*b'], ['axb']],
  ['*.{js,ts}', ['a.{js,ts}'], ['a.js']],
  ['.', [], ['a', '.env']],
  ['a\n/!a', [], ['a']],
]

test('createIgnorer excludes what Docker excludes', () => {
  for (const [text, out, kept] of table) {
    assert.deepEqual(excluded(text, out), out, JSON.stringify(text))
    assert.deepEqual(excluded(text, kept), [], JSON.stringify(text))
  }
})

test('ignoreFileNames lists the file of the Dockerfile before that of the context', () => {
  assert.deepEqual(ignoreFileNames('docker/Dockerfile'), ['docker/Dockerfile.dockerignore', '.dockerignore'])
})

test('readIgnoreFile names the line of a pattern that Docker rejects or reads in an unexpected way', () => {
  for (const pattern of [
    '!',
    '!/',
    '[',
    '[]a]',
    '[a',
    '[b-a]',
    'a\\',
    'a\\d',
    '[*]',
    '[[:alpha:]]',
    '*|b',
    '*^',
    'a*{2}',
    '\u0001',
  ])
    assert.throws(
      () => excluded(`x\n${pattern}`, []),
      (error) => error instanceof BuildError && /^\.dockerignore, line 2: .+\. Correct it/.test(error.message),
      pattern,
    )
})

test('readIgnoreFile rejects a file beyond the limits', () => {
  for (const text of ['a'.repeat(1025), 'a\n'.repeat(10_001), `#${'a'.repeat(1024 ** 2)}`])
    assert.throws(() => excluded(text, []), BuildError)
})

test('createIgnorer stops hostile patterns with a message after bounded work', () => {
  const texts = ['*a', '**/', '*[a]', '?*'].map((part) =>
    `${part.repeat(Math.floor(100 / part.length))}b\n`.repeat(9000),
  )
  for (const text of texts) {
    const ignorer = createIgnorer({ path: '.dockerignore', text })
    assert.throws(() => ignorer.excludes('a'.repeat(4000)), /too long to compare/)
    assert.ok(ignorer.work < 210_000, `${ignorer.work}`)
  }
  const one = createIgnorer({ path: '.dockerignore', text: `${'*a'.repeat(20)}b` })
  assert.equal(one.excludes('a'.repeat(4000)), false)
  assert.ok(one.work <= 41 * 4000, `${one.work}`)
})

const characters = fc.constantFrom(...'aab..//**?[]!^-\\{}| #', 'é', '\t', '\r')
const line = fc.oneof(
  fc.array(fc.constantFrom('a', 'b', 'ab', '*', '**', '/', '/', '!', '?', '.', '..', '[ab]', '\\*', '[^a]'), {
    minLength: 1,
    maxLength: 7,
  }),
  fc.array(characters, { maxLength: 8 }),
)
const texts = fc
  .array(line, { minLength: 1, maxLength: 5 })
  .map((lines) => lines.map((parts) => parts.join('')).join('\n'))
const names = fc.array(fc.constantFrom('a', 'b', 'ab', '*', '.', 'é', '\n', 'aab', '!'), { minLength: 1, maxLength: 3 })
const paths = fc
  .array(names, { minLength: 1, maxLength: 4 })
  .map((parts) => parts.map((part) => part.join('').replace(/^\.+$/, 'x')).join('/'))

test('BuildKit excludes the same paths as createIgnorer', async (t) => {
  const directory = join(import.meta.dirname, '..', '..', 'test', 'support', 'ignore-matcher')
  const files = { 'main.go': join(directory, 'main.go'), 'go.mod': join(directory, 'go.mod') }
  const built = await buildGoProgram('ignore-matcher', { files, mayLoad: false })
  if (typeof built === 'string') return t.skip(built)
  const child = start(built.program, [], { stdio: 'pipe' })
  const { stdin, stdout } = child
  if (!stdin || !stdout) throw new Error('the program has no standard streams')
  t.after(async () => {
    const ended = once(child, 'exit')
    stdin.end()
    await ended
  })
  const answers = createInterface({ input: stdout })[Symbol.asyncIterator]()
  const ask = async (text: string, asked: readonly string[]): Promise<readonly string[] | undefined> => {
    stdin.write(`${JSON.stringify({ Text: text, Paths: asked })}\n`)
    const answer = JSON.parse(String((await answers.next()).value))
    return answer.error ? undefined : asked.filter((_, index) => answer.excluded[index])
  }
  for (const [text, out, kept] of table) assert.deepEqual(await ask(text, [...out, ...kept]), out, JSON.stringify(text))
  let compared = 0
  const property = fc.asyncProperty(texts, fc.array(paths, { minLength: 1, maxLength: 8 }), async (text, asked) => {
    const theirs = await ask(text, asked)
    let ours: string[]
    try {
      ours = excluded(text, asked)
    } catch (error) {
      assert.ok(error instanceof BuildError)
      return
    }
    compared++
    assert.deepEqual(ours, theirs)
  })
  await fc.assert(property, { numRuns: 5000 })
  assert.ok(compared > 1500, `only ${compared} of 5000 files were compared`)
  return undefined
})
