import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasAccess, type RepositoryFact } from './access.ts'

const url = 'https://git.example.org/ada/shop.git'
const fact = (values: Partial<RepositoryFact>): RepositoryFact => ({
  url,
  git_token_id: null,
  has_access: null,
  hosted: false,
  ...values,
})
const isHome = (address: string) => address.startsWith('https://home/')
const answer = (facts: readonly RepositoryFact[], git_token_id: string | null = null) =>
  hasAccess({ url, git_token_id }, facts, isHome)

test('has_access is the result of the last contact with the same address and git token', () => {
  assert.equal(answer([fact({ has_access: true })]), true)
  assert.equal(answer([fact({ has_access: false })]), false)
  const both = [fact({ has_access: false }), fact({ has_access: true, git_token_id: 'one' })]
  assert.deepEqual([answer(both), answer(both, 'one'), answer(both, 'two')], [false, true, false])
})

test('has_access is false before any contact, except for an existing repository of the built-in host', () => {
  const home = 'https://home/git/shop.git'
  const hosted = [fact({ url: home, hosted: true })]
  assert.equal(answer([]), false)
  assert.equal(answer([fact({ hosted: true })]), false)
  assert.equal(hasAccess({ url: home, git_token_id: null }, hosted, isHome), true)
  assert.equal(hasAccess({ url: home, git_token_id: null }, [fact({ url: home })], isHome), false)
})
