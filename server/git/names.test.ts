import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isBranchName, isCommitId, isRepositoryName, treePath } from './names.ts'

test('branch names are on the allow-list', () => {
  for (const name of ['main', 'release/1.x', 'feature/ABC-123_x', 'user@host', 'a+b#c', 'v1.0', 'a'.repeat(244)]) {
    assert.equal(isBranchName(name), true, name)
  }
})

const refusedBranches = [
  '--upload-pack=touch x;git-upload-pack',
  '-x',
  'a..b',
  'a b',
  '@{u}',
  'x.lock',
  'a.lock/b',
  '/x',
  'x/',
  'a//b',
  'a\\b',
  'a~1',
  'a^',
  'a:b',
  '*',
  'a*',
  '',
  'a'.repeat(245),
  'a;touch x',
  '$(id)',
  'a$(id)',
  '`id`',
  'a`id`',
  'a&b',
  'a|b',
  'a"b',
  "a'b",
  '.a',
  'a/.b',
  'a.',
  'a\n',
  'a\0',
  'é',
  '@',
  '+main',
  'a?b',
  'a[b',
]
for (const name of refusedBranches) {
  test(`the branch name ${JSON.stringify(name.slice(0, 40))} is rejected`, () =>
    assert.equal(isBranchName(name), false))
}

test('commit ids are 7 to 64 lower-case hexadecimal digits', () => {
  for (const id of ['0123456', 'a'.repeat(40), 'f'.repeat(64)]) assert.equal(isCommitId(id), true, id)
  for (const id of ['', 'HEAD', '123456', 'a'.repeat(65), 'g'.repeat(40), 'A'.repeat(40), '--output=x', 'abcdef1\n']) {
    assert.equal(isCommitId(id), false, id)
  }
})

test('names of repositories are plain', () => {
  for (const name of ['a', 'hello-world', 'a.b_c', '0', 'a'.repeat(100)])
    assert.equal(isRepositoryName(name), true, name)
  for (const name of [
    '',
    '-a',
    '.a',
    'A',
    'a/b',
    '..',
    'a..b',
    'a.lock',
    'a.git',
    'a.',
    'a b',
    'a\n',
    'é',
    'a'.repeat(101),
  ]) {
    assert.equal(isRepositoryName(name), false, name)
  }
})

test('each path inside a tree has one spelling', () => {
  for (const [text, path] of [
    ['', ''],
    ['/', ''],
    ['.', ''],
    ['./', ''],
    ['a', 'a'],
    ['./a//b/', 'a/b'],
    ['.github', '.github'],
  ] as const) {
    assert.equal(treePath(text), path, text)
  }
})

const refusedPaths = [
  '..',
  '../..',
  '/etc',
  '//',
  'a/../b',
  'a/../../b',
  '%2e%2e',
  '%2E%2e/x',
  'a%2fb',
  'a\\b',
  'a\0',
  'a\nb',
  'a/'.repeat(2049),
  'a'.repeat(256),
  '-r',
  'a/-r',
  '.git',
  '.GIT/config',
  'a/.git',
  '.git::$INDEX_ALLOCATION',
  '.git /x',
  '.git.',
  '\u007f',
]
for (const path of refusedPaths) {
  test(`the path ${JSON.stringify(path.slice(0, 40))} is refused`, () => assert.equal(treePath(path), undefined))
}
