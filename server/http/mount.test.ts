import assert from 'node:assert/strict'
import { test } from 'node:test'
import fastify from 'fastify'
import { systemClock } from '../lib/clock.ts'
import type { Handlers } from './call.ts'
import { type MountOptions, mountContract } from './mount.ts'
import { targetQuery } from './target-query.ts'

/** The dependencies of mounting. None of them is called. */
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
  // Every name has a handler.
  handlers: new Proxy({} as Handlers, { get: () => async () => ({}) }),
  targetQuery,
  ...change,
})

test('every operation of the contract has a target and a handler', () => {
  mountContract(fastify(), options())
})

test('the server does not start when an operation has a target that cannot be loaded', () => {
  const mount = () => mountContract(fastify(), options({ targetQuery: () => undefined }))
  assert.throws(mount, /has no target/)
})

test('the server does not start when an operation has no handler', () => {
  assert.throws(() => mountContract(fastify(), options({ handlers: {} as Handlers })), /has no handler/)
})
