import assert from 'node:assert/strict'
import { test } from 'node:test'
import { databaseTypes } from '@quayside/contract/services/database.ts'
import { Secret } from '../lib/secret.ts'
import { askWithExchange, formerPasswordVariable } from './exchange-password.ts'

const former = { [formerPasswordVariable]: new Secret('CANARY') }

test('a database with its own data gets the plain check', () => {
  for (const type of databaseTypes) assert.equal(askWithExchange(type, 'ask', {}), 'ask')
})

test('a database with copied data is checked first, and gets its password when it does not know it', () => {
  for (const type of ['POSTGRESQL', 'MYSQL', 'MONGODB'] as const) {
    const command = askWithExchange(type, 'ask', former)
    assert.match(command, /^\(ask\) \|\| \{ .+; \} && \(ask\)$/s)
    assert.ok(!command.includes('CANARY'))
  }
  assert.equal(askWithExchange('REDIS', 'ask', former), 'ask')
})
