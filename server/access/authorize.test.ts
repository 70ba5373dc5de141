import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Permission } from '@quayside/contract/operation.ts'
import type { Sql } from '../database/index.ts'
import { testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { createApiTokens } from './api-tokens.ts'
import { authorize } from './authorize.ts'
import { type Credential, readToken } from './credential.ts'

const { sql } = await testDatabase({ after })
const pepper = Buffer.alloc(32, 7)
const tokens = createApiTokens({ database: sql, clock: systemClock, pepper })
const admin = { name: 'maker', permissions: ['ADMIN' as const] }
const query = (tx: Sql, id: string) => tx`select id, organization_id, name from project where id = ${id}`

async function addOrganization(): Promise<{ id: string; project: string }> {
  const [id, project] = [newId(), newId()]
  await sql`insert into organization (id, created_at, updated_at, name) values (${id}, now(), now(), ${id})`
  await sql`
    insert into project (id, organization_id, created_at, updated_at, name)
    values (${project}, ${id}, now(), now(), 'a project')`
  return { id, project }
}
const [a, b] = [await addOrganization(), await addOrganization()]
let made = 0
async function credentialFor(organization: string, scope: Permission): Promise<{ id: string; credential: Credential }> {
  const { id, token } = await tokens.create(organization, admin, { name: `token ${made++}`, scope })
  const credential = readToken(token, pepper)
  assert.ok(credential)
  return { id, credential }
}

test('returns the caller, and the target inside the caller’s organization', async () => {
  const { id, credential } = await credentialFor(a.id, 'WRITE')
  const { caller, target } = await authorize(sql, credential, { access: 'write', query, targetId: a.project })
  assert.deepEqual(caller, {
    id,
    kind: 'token',
    name: caller.name,
    accountId: undefined,
    permissions: ['WRITE'],
    rights: { permissions: ['WRITE'] },
    organizationId: a.id,
  })
  assert.equal(target?.['name'], 'a project')
})

test('rejects an unknown caller with 401 before anything else', async () => {
  const { credential } = await credentialFor(a.id, 'ADMIN')
  assert.ok(credential.kind === 'token')
  const strangers: (Credential | undefined)[] = [
    undefined,
    { ...credential, hash: Buffer.alloc(32) },
    { ...credential, keyId: '0'.repeat(16) },
    { kind: 'jwt', issuer: 'https://id.example', subject: 'nobody' },
  ]
  for (const stranger of strangers) {
    for (const targetId of [a.project, b.project, undefined]) {
      await assert.rejects(authorize(sql, stranger, { access: 'admin', query, targetId }), { code: 'unauthorized' })
    }
  }
})

test('rejects a target of another organization, a missing and a malformed one with 404, also without the permission', async () => {
  const { credential } = await credentialFor(a.id, 'READ')
  for (const targetId of [b.project, newId(), undefined]) {
    await assert.rejects(authorize(sql, credential, { access: 'admin', query, targetId }), { code: 'notFound' })
  }
  await assert.rejects(authorize(sql, credential, { access: 'admin', query, targetId: a.project }), {
    code: 'forbidden',
    message: /ADMIN/,
  })
})

test('records the use of a token at most once a minute', async () => {
  const { id, credential } = await credentialFor(a.id, 'READ')
  const usedAt = async () => (await sql`select last_used_at from api_token where id = ${id}`)[0]?.['last_used_at']
  assert.equal(await usedAt(), null)
  await authorize(sql, credential, { access: 'read' })
  const first = await usedAt()
  assert.ok(first instanceof Date)
  await authorize(sql, credential, { access: 'read' })
  assert.deepEqual(await usedAt(), first)
  await sql`update api_token set last_used_at = now() - interval '61 seconds' where id = ${id}`
  await authorize(sql, credential, { access: 'read' })
  assert.ok((await usedAt()) >= first)
})

test('gives a person the rights of the membership in the requested organization', async () => {
  const account = newId()
  const identity = { issuer: 'https://id.example', subject: 'ada' }
  await sql`
    insert into account (id, created_at, updated_at, issuer, subject, name)
    values (${account}, now(), now(), ${identity.issuer}, ${identity.subject}, 'Ada')`
  await sql`
    insert into member (organization_id, account_id, created_at, permissions)
    values (${a.id}, ${account}, now(), '{ADMIN}'), (${b.id}, ${account}, now() + interval '1 second', '{READ}')`
  const credential: Credential = { kind: 'jwt', ...identity }
  const both = await authorize(sql, credential, { access: 'read' })
  assert.deepEqual(both.organizationIds, [a.id, b.id])
  const ofB = await authorize(sql, credential, { access: 'read', query, targetId: b.project })
  assert.deepEqual([ofB.caller.kind, ofB.caller.organizationId, ofB.caller.permissions], ['account', b.id, ['READ']])
  await authorize(sql, credential, { access: 'admin', query, targetId: a.project })
  const inB = authorize(sql, credential, { access: 'write', query, targetId: b.project })
  await assert.rejects(inB, { code: 'forbidden' })
  await sql`delete from member where organization_id = ${b.id}`
  await assert.rejects(authorize(sql, credential, { access: 'read', query, targetId: b.project }), { code: 'notFound' })
})

test('gives a token the permission of its scope, but not more than its creator has', async () => {
  for (const [scope, permission] of [
    ['read', 'READ'],
    ['Deploy', 'DEPLOY'],
    [null, 'ADMIN'],
    [undefined, 'ADMIN'],
  ] as const) {
    const made = await tokens.create(a.id, admin, { name: `scope ${scope}`, ...(scope === undefined ? {} : { scope }) })
    assert.equal(made.scope, permission)
  }
  const writer = { name: 'writer', permissions: ['WRITE' as const] }
  await assert.rejects(tokens.create(a.id, writer, { name: 'more' }), { code: 'forbidden' })
  await assert.rejects(tokens.create(a.id, admin, { name: 'odd', scope: 'OWNER' }), {
    code: 'invalid',
    message: /scope/,
  })
  await assert.rejects(tokens.create(a.id, admin, { name: 'role', role_id: newId() }), {
    code: 'notFound',
    message: /role_id/,
  })
  await assert.rejects(tokens.create(a.id, admin, { name: 'late', expires_at: '2020-01-01T00:00:00Z' }), {
    message: /expires_at/,
  })
})

test('distinguishes tokens by name and lists them', async () => {
  await tokens.create(a.id, admin, { name: 'Taken' })
  await assert.rejects(tokens.create(a.id, admin, { name: 'taken ' }), { code: 'conflict', message: /"taken"/ })
  await assert.rejects(tokens.create(a.id, admin, { name: 'a\u202eb' }), { code: 'invalid', message: /^name / })
  await tokens.create(b.id, admin, { name: 'Taken' })
})

test('a token is removed from its own organization only', async () => {
  const { id } = await credentialFor(a.id, 'READ')
  await assert.rejects(tokens.remove(b.id, id), { code: 'notFound' })
  await tokens.remove(a.id, id)
  await assert.rejects(tokens.remove(a.id, id), { code: 'notFound' })
})
