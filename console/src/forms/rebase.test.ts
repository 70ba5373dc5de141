import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rebase } from './rebase.ts'

const base = { name: 'shop', cpu: 250, git: { branch: 'main', url: 'a' }, ports: [{ internal_port: 80 }] }

test('fields that only the other person changed have the new values, and own changes stay', () => {
  const rebased = rebase(base, { ...base, cpu: 500 }, { ...base, name: 'store', git: { branch: 'next', url: 'a' } })
  assert.deepEqual(rebased, {
    draft: { ...base, name: 'store', cpu: 500, git: { branch: 'next', url: 'a' } },
    taken: ['name', 'git.branch'],
    kept: [],
  })
})

test('a field that both changed keeps the own value and is named, unless the values are the same', () => {
  const mine = { ...base, cpu: 500, name: 'store', git: { branch: 'mine', url: 'b' } }
  const theirs = { ...base, cpu: 1000, name: 'store', git: { branch: 'theirs', url: 'a' } }
  assert.deepEqual(rebase(base, mine, theirs), { draft: mine, taken: [], kept: ['cpu', 'git.branch'] })
})

test('a list is compared as a whole, and a new member appears', () => {
  const mine = { ...base, ports: [] }
  const theirs = { ...base, ports: [{ internal_port: 81 }], healthchecks: {} }
  const rebased = rebase(base, mine, theirs)
  assert.deepEqual(rebased, { draft: { ...mine, healthchecks: {} }, taken: ['healthchecks'], kept: ['ports'] })
})
