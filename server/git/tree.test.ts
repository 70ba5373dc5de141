import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainFailure } from './explain.ts'
import { chooseHead } from './heads.ts'
import { escapingLink } from './links.ts'
import { findEntry, linksUnder, parseTreeRecord, type Tree } from './tree.ts'

const id = 'a'.repeat(40)
const treeOf = (...records: string[]): Tree =>
  new Map(records.flatMap((record) => parseTreeRecord(record) ?? []).map(({ path, entry }) => [path, entry]))

test('reads the records of ls-tree, including names with line breaks and tabs', () => {
  const tree = treeOf(
    `100755 blob ${id}\ta\tb\nc`,
    `040000 tree ${id}\td`,
    `120000 blob ${id}\td/l`,
    `160000 commit ${id}\ts`,
    'nonsense',
  )
  assert.deepEqual(
    [...tree].map(([path, { kind }]) => [path, kind]),
    [['a\tb\nc', 'file'], ['d', 'directory'], ['d/l', 'link'], ['s', 'submodule']],
  ) // biome-ignore format: a table
  assert.deepEqual(linksUnder(tree, 'd'), [{ path: 'l', id }])
  assert.throws(() => findEntry(tree, 'd/l/x'), { reason: 'path' })
  assert.equal(findEntry(tree, 'd/x'), undefined)
})

// biome-ignore format: a table
const linkCases: readonly (readonly [string, Record<string, string>, string | undefined])[] = [
  ['inside', { 'a/l': '../b/c', m: './x//y', n: '.' }, undefined],
  ['absolute', { l: '/etc/passwd' }, 'l'],
  ['process', { l: '/proc/self/environ' }, 'l'],
  ['up', { l: '..' }, 'l'],
  ['up and back in', { 'a/l': '../../tree/a' }, 'a/l'],
  ['inside by its words, outside through another link', { 'x/b': '..', 'x/l': 'b/../y' }, 'x/l'],
  ['outside by its words, inside through another link', { b: 'c/d', l: 'b/../../x' }, undefined],
  ['through a link above it', { d: 'e/f', 'd/l': '..' }, undefined],
  ['loop', { a: 'b', b: 'a', c: 'c/x' }, undefined],
]
for (const [name, links, expected] of linkCases) {
  test(`links: ${name}`, () => assert.equal(escapingLink(new Map(Object.entries(links))), expected))
}

test('a maze of links is rejected quickly', () => {
  const maze = new Map(
    Array.from({ length: 5_000 }, (_, n) => [`l${n}`, `${'a/../'.repeat(400)}l${(n + 1) % 5_000}`] as const),
  )
  assert.throws(() => escapingLink(maze), { reason: 'limits' })
})

test('chooses the exact branch, or main before master before HEAD', () => {
  const line = (ref: string, digit: string): string => `${digit.repeat(40)}\t${ref}`
  const head = ['ref: refs/heads/dev\tHEAD', line('HEAD', 'd')].join('\n')
  assert.deepEqual(chooseHead(head), { branch: 'dev', commit: 'd'.repeat(40) })
  const all = [head, line('refs/heads/master', 'b'), line('refs/heads/main', 'a'), line('refs/heads/x/main', 'c')].join(
    '\n',
  )
  assert.deepEqual(chooseHead(all), { branch: 'main', commit: 'a'.repeat(40) })
  assert.deepEqual(chooseHead(all, 'master'), { branch: 'master', commit: 'b'.repeat(40) })
  assert.equal(chooseHead(all, 'x'), undefined)
  assert.equal(chooseHead(line('refs/remotes/refs/heads/main', 'a')), undefined)
  assert.equal(chooseHead('ref: refs/heads/a;id\tHEAD\n' + line('HEAD', 'd')), undefined)
})

test('a missing repository and a forbidden one have the same message', () => {
  const answers = [
    "fatal: repository 'https://h/x.git/' not found",
    "fatal: Authentication failed for 'https://h/x.git/'",
    "fatal: could not read Username for 'https://h': terminal prompts disabled",
    "fatal: unable to access 'https://h/x.git/': The requested URL returned error: 403",
  ].map((stderr) => explainFailure(stderr, 'h'))
  assert.deepEqual(new Set(answers.map(({ message }) => message)).size, 1)
  assert.ok(answers.every(({ reason }) => reason === 'denied'))
})

test('an unknown message of git becomes one short printable line', () => {
  const { message } = explainFailure(`first\n\u001b[31mfatal: ${'x'.repeat(1000)}`, 'h')
  assert.ok(message.length < 400 && !message.includes('\u001b') && !message.includes('first'))
})
