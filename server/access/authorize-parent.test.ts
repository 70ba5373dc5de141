import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Rights } from '@quayside/contract/roles.ts'
import type { Sql } from '../database/index.ts'
import { testDatabase } from '../database/testing.ts'
import { newId } from '../lib/id.ts'
import { authorizeParent } from './index.ts'

const { sql } = await testDatabase({ after })
interface Row {
  readonly id: string
  readonly organization_id: string
}
const query = (tx: Sql, id: string) => tx`select id, organization_id from project where id = ${id}`

async function addProject(): Promise<Row> {
  const [organization_id, id] = [newId(), newId()]
  await sql`
    insert into organization (id, created_at, updated_at, name)
    values (${organization_id}, now(), now(), ${organization_id})`
  await sql`
    insert into project (id, organization_id, created_at, updated_at, name)
    values (${id}, ${organization_id}, now(), now(), 'p')`
  return { id, organization_id }
}
const [one, other, foreign] = [await addProject(), await addProject(), await addProject()]
const writer: Rights = { permissions: ['WRITE'] }
const memberships = [
  { organizationId: one.organization_id, rights: { permissions: ['READ'] } satisfies Rights },
  { organizationId: other.organization_id, rights: writer },
]
const ask = (
  id: string,
  access: 'read' | 'write',
  own: readonly { organizationId: string; rights: Rights }[] = memberships,
) =>
  authorizeParent<Row>(
    sql,
    { memberships: own },
    { access, id, query, place: (row) => ({ projectId: row.id, mode: 'STAGING' }), noun: 'project' },
  )

test('a parent is found in every organization of the caller, with the rights of that one', async () => {
  assert.equal((await ask(one.id, 'read')).organization_id, one.organization_id)
  assert.equal((await ask(other.id, 'write')).id, other.id)
  await assert.rejects(ask(one.id, 'write'), { code: 'forbidden', message: /WRITE on that project/ })
})

test('a parent of another organization is unknown, also without the permission', async () => {
  for (const id of [foreign.id, newId()])
    for (const access of ['read', 'write'] as const) await assert.rejects(ask(id, access), { code: 'notFound' })
})

test('a custom role applies at the mode of the place', async () => {
  const roleOf = (mode: 'STAGING' | 'PRODUCTION') => {
    const projects = { [one.id]: { is_admin: false, modes: { [mode]: 'MANAGER' as const } } }
    return [{ organizationId: one.organization_id, rights: { custom: { clusters: {}, projects } } }]
  }
  assert.equal((await ask(one.id, 'write', roleOf('STAGING'))).id, one.id)
  await assert.rejects(ask(one.id, 'write', roleOf('PRODUCTION')), { code: 'forbidden' })
})
