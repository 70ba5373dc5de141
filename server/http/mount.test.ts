import assert from 'node:assert/strict'
import { test } from 'node:test'
import fastify from 'fastify'
import { systemClock } from '../lib/clock.ts'
import type { Handlers } from './call.ts'
import { type MountOptions, mountContract } from './mount.ts'
import { targetQuery } from './target-query.ts'

/** Everything that mounting looks at; nothing is asked. */
const options = (change: Partial<MountOptions> = {}): MountOptions => ({
  database: Object.create(null),
  clock: systemClock,
  vault: Object.create(null),
  plans: Object.create(null),
  readCredential: async () => undefined,
  budgets: {
    take: () => ({ allowed: true, limit: 0, remaining: 0, resetSeconds: 0 }),
    confirm: () => {},
    addressOf: () => '',
    ownerOf: () => 'a',
  },
  // Any name has a handler.
  handlers: new Proxy({} as Handlers, { get: () => async () => ({}) }),
  targetQuery,
  ...change,
})

test('every operation of the contract finds its target and its handler', () => {
  mountContract(fastify(), options())
})

test('an operation whose target nobody can load keeps the server from starting', () => {
  const mount = () => mountContract(fastify(), options({ targetQuery: () => undefined }))
  assert.throws(mount, /has no target/)
})

test('an operation without a handler keeps the server from starting', () => {
  assert.throws(() => mountContract(fastify(), options({ handlers: {} as Handlers })), /has no handler/)
})
