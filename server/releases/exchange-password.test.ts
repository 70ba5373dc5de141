import assert from 'node:assert/strict'
import { test } from 'node:test'
import { databaseTypes } from '@quayside/contract/services/database.ts'
import { Secret } from '../lib/secret.ts'
import { askWithExchange, formerPasswordVariable } from './exchange-password.ts'

const former = { [formerPasswordVariable]: new Secret('CANARY') }

test('a database with data of its own is asked, and no more', () => {
  for (const type of databaseTypes) assert.equal(askWithExchange(type, 'ask', {}), 'ask')
})

test('one with data of another is asked first, and given its password where it does not know it', () => {
  for (const type of ['POSTGRESQL', 'MYSQL', 'MONGODB'] as const) {
    const command = askWithExchange(type, 'ask', former)
    assert.match(command, /^\(ask\) \|\| \{ .+; \} && \(ask\)$/s)
    assert.ok(!command.includes('CANARY'))
  }
  assert.equal(askWithExchange('REDIS', 'ask', former), 'ask')
})
