import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import type { Credential } from '../access/index.ts'
import { createBudgets } from './budgets.ts'

const from = (remoteAddress: string, headers: Readonly<Record<string, string>> = {}): IncomingMessage => {
  // The parts of a request that budgets read.
  return { socket: { remoteAddress }, headers } as unknown as IncomingMessage
}
const address = from('192.0.2.1')

function bench(trustedProxies: readonly string[] = [], secret?: string) {
  const taken: string[] = []
  const verdict = { allowed: true, limit: 1, remaining: 1, resetSeconds: 0 }
  const take = (key: string) => {
    taken.push(key)
    return verdict
  }
  const budgets = createBudgets({ take }, { trustedProxies, door: secret === undefined ? undefined : { secret } })
  return { ...budgets, taken }
}
const token = (keyId: string): Credential => ({ kind: 'token', keyId, hash: Buffer.alloc(32) })

test('a token has its own budget once it was accepted, including its first request', () => {
  const { take, confirm, taken } = bench()
  take(token('a'), address)
  confirm(token('a'), 'organization')
  confirm(token('a'), 'organization')
  take(token('a'), address)
  take(token('b'), address)
  take(undefined, address)
  assert.deepEqual(taken, ['192.0.2.1', 'a', 'a', '192.0.2.1', '192.0.2.1'])
})

/** Limiters that allow so many requests for each key. */
function counted(limit: number) {
  const taken = new Map<string, number>()
  return {
    take: (key: string) => {
      const count = taken.get(key) ?? 0
      const allowed = count < limit
      if (allowed) taken.set(key, count + 1)
      return { allowed, limit, remaining: Math.max(0, limit - count - 1), resetSeconds: allowed ? 0 : 9 }
    },
  }
}

test('the tokens of an organization share a budget, and one that sends little passes when it is spent', () => {
  const budgets = createBudgets(counted(8), { ofOrganizations: counted(10), reserves: counted(2) })
  const confirm = (keyId: string, organizationId = 'ours') => budgets.confirm(token(keyId), organizationId)
  for (const keyId of ['a', 'b', 'quiet']) confirm(keyId)
  confirm('other', 'theirs')
  const sent = (keyId: string, count: number) =>
    Array.from({ length: count }, () => budgets.take(token(keyId), address)).filter(({ allowed }) => allowed).length
  assert.equal(sent('a', 20), 7, 'its own budget, and the first request was one of eight')
  assert.equal(sent('b', 20), 1, 'the rest of its reserve')
  const refused = budgets.take(token('b'), address)
  assert.deepEqual([refused.allowed, refused.limit, refused.remaining], [false, 8, 0])
  assert.equal(sent('quiet', 20), 1, 'the rest of its reserve')
  assert.equal(sent('other', 7), 7)
})

test('a JWT has one budget from every address', () => {
  const { take, taken } = bench()
  for (const one of ['192.0.2.1', '192.0.2.2']) take({ kind: 'jwt', issuer: 'https://id', subject: 'x' }, from(one))
  assert.deepEqual(taken, ['https://id x', 'https://id x'])
})

test('addresses of one IPv6 /64 network share a budget', () => {
  const { take, taken } = bench()
  for (const one of ['2001:db8::1', '2001:db8::ffff:2', '::ffff:192.0.2.7']) take(undefined, from(one))
  assert.deepEqual(taken, ['2001:db8:0:0::/64', '2001:db8:0:0::/64', '192.0.2.7'])
})

test('each client behind a trusted proxy has its own budget, whatever addresses it claims itself', () => {
  const { take, taken } = bench(['10.0.0.0/8'])
  take(undefined, from('10.0.0.1', { 'x-forwarded-for': '1.1.1.1, 192.0.2.7' }))
  take(undefined, from('10.0.0.1', { 'x-forwarded-for': '192.0.2.8, 10.9.9.9' }))
  take(undefined, from('192.0.2.9', { 'x-forwarded-for': '1.1.1.1' }))
  assert.deepEqual(taken, ['192.0.2.7', '192.0.2.8', '192.0.2.9'])
})

test('the router names the clients by its secret, and no other local program can', () => {
  const { addressOf } = bench(['10.0.0.0/8'], 'secret')
  const said = (forwardedFor: string, door?: string) =>
    addressOf(from('127.0.0.1', { 'x-forwarded-for': forwardedFor, ...(door && { 'x-quayside-door': door }) }))
  assert.equal(said('192.0.2.7', 'secret'), '192.0.2.7')
  assert.equal(said('192.0.2.7, 10.0.0.1', 'secret'), '192.0.2.7')
  assert.equal(said('1.1.1.1, 192.0.2.7', 'secret'), '192.0.2.7')
  for (const forged of [undefined, 'guess', 'secret2']) assert.equal(said('192.0.2.7', forged), '127.0.0.1')
})
