import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Credential } from '../access/index.ts'
import { createBudgets } from './budgets.ts'

function bench() {
  const taken: string[] = []
  const verdict = { allowed: true, limit: 1, remaining: 1, resetSeconds: 0 }
  const budgets = createBudgets({
    take: (key) => {
      taken.push(key)
      return verdict
    },
  })
  return { ...budgets, taken }
}
const token = (keyId: string): Credential => ({ kind: 'token', keyId, hash: Buffer.alloc(32) })

test('a token has a budget of its own once it was found good, its first request included', () => {
  const { take, confirm, taken } = bench()
  take(token('a'), 'address')
  confirm(token('a'))
  confirm(token('a'))
  take(token('a'), 'address')
  take(token('b'), 'address')
  take(undefined, 'address')
  assert.deepEqual(taken, ['address', 'a', 'a', 'address', 'address'])
})

test('who comes with a JWT is one caller wherever from', () => {
  const { take, taken } = bench()
  for (const address of ['one', 'two']) take({ kind: 'jwt', issuer: 'https://id', subject: 'x' }, address)
  assert.deepEqual(taken, ['https://id x', 'https://id x'])
})
