import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commitPage } from './commit-page.ts'

const commit = 'a'.repeat(40)
const pageOf = (
  url: string,
  provider: 'GITHUB' | 'GITLAB' | 'BITBUCKET' = 'GITHUB',
  git_token_id: string | null = null,
) => commitPage({ url, provider, git_token_id }, commit)

test('commitPage returns the page that belongs to the provider', () => {
  assert.equal(pageOf('https://github.com/team/shop.git'), `https://github.com/team/shop/commit/${commit}`)
  assert.equal(pageOf('https://gitlab.com/a/b/shop'), `https://gitlab.com/a/b/shop/-/commit/${commit}`)
  assert.equal(pageOf('https://bitbucket.org/team/shop.git/'), `https://bitbucket.org/team/shop/commits/${commit}`)
})

test('the provider of another host is known from its git token alone', () => {
  assert.equal(
    pageOf('https://git.example.org/a/b.git', 'GITLAB', 'token'),
    `https://git.example.org/a/b/-/commit/${commit}`,
  )
  assert.equal(pageOf('https://git.example.org/a/b.git', 'GITLAB'), undefined)
  assert.equal(pageOf('http://localhost:3000/git/hello.git'), undefined)
})

test('commitPage returns no page for an invalid commit or address, and never includes credentials', () => {
  assert.equal(commitPage({ url: 'https://github.com/a/b', provider: 'GITHUB', git_token_id: null }, '../x'), undefined)
  assert.equal(pageOf('nonsense'), undefined)
  assert.ok(!pageOf('https://name:secret@github.com/a/b')?.includes('secret'))
})
