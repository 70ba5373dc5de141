import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Access, Permission } from '@quayside/contract/operation.ts'
import { mayAccess, mayGrant } from './caller.ts'

const allowed: Record<Access, string[]> = {
  read: ['READ', 'DEPLOY', 'WRITE', 'DEPLOY+WRITE', 'ADMIN'],
  deploy: ['DEPLOY', 'DEPLOY+WRITE', 'ADMIN'],
  write: ['WRITE', 'DEPLOY+WRITE', 'ADMIN'],
  admin: ['ADMIN'],
}
const sets: Record<string, Permission[]> = {
  none: [],
  READ: ['READ'],
  DEPLOY: ['DEPLOY'],
  WRITE: ['WRITE'],
  'DEPLOY+WRITE': ['DEPLOY', 'WRITE'],
  ADMIN: ['ADMIN'],
}

test('deploy and write do not contain each other, both contain read, admin contains all', () => {
  for (const [name, permissions] of Object.entries(sets)) {
    for (const access of ['read', 'deploy', 'write', 'admin'] as const) {
      assert.equal(mayAccess(permissions, access), allowed[access].includes(name), `${name} for ${access}`)
    }
  }
})

test('nobody hands out what he does not have', () => {
  assert.ok(mayGrant(['ADMIN'], ['ADMIN', 'WRITE']))
  assert.ok(mayGrant(['DEPLOY', 'WRITE'], ['WRITE']))
  assert.ok(!mayGrant(['WRITE'], ['ADMIN']))
  assert.ok(!mayGrant(['WRITE'], ['DEPLOY']))
  assert.ok(!mayGrant(['READ'], ['READ', 'WRITE']))
})
