import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Access, Permission } from '@quayside/contract/operation.ts'
import { roleNames } from '@quayside/contract/roles.ts'
import { mayAccess, mayGrant, mayOn, type Place, type Rights, requireNewEnvironment, visible } from './caller.ts'

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

const having = (...given: Permission[]) => ({ permissions: given })
const developer: Rights = {
  custom: {
    clusters: { cluster: 'ADMIN', shared: 'ENV_CREATOR' },
    projects: {
      shop: { is_admin: false, modes: { DEVELOPMENT: 'MANAGER', STAGING: 'DEPLOYER', PREVIEW: 'VIEWER' } },
      docs: { is_admin: true, modes: {} },
      blog: {
        is_admin: false,
        modes: { DEVELOPMENT: 'MANAGER', STAGING: 'MANAGER', PREVIEW: 'MANAGER', PRODUCTION: 'MANAGER' },
      },
      dark: { is_admin: false, modes: { DEVELOPMENT: 'NO_ACCESS' } },
    },
  },
}
const all = ['read', 'deploy', 'write', 'admin'] as const
const may = (rights: Rights, place: Place): string => all.filter((access) => mayOn({ rights }, access, place)).join(' ')

test('nobody can grant rights that they lack', () => {
  assert.ok(mayGrant(having('ADMIN'), having('ADMIN', 'WRITE')))
  assert.ok(mayGrant(having('DEPLOY', 'WRITE'), having('WRITE')))
  assert.ok(!mayGrant(having('WRITE'), having('ADMIN')))
  assert.ok(!mayGrant(having('WRITE'), having('DEPLOY')))
  assert.ok(!mayGrant(having('READ'), having('READ', 'WRITE')))
  assert.ok(mayGrant({ role: 'OWNER' }, { role: 'OWNER' }))
  assert.ok(!mayGrant({ role: 'ADMIN' }, { role: 'OWNER' }))
  assert.ok(!mayGrant(having('ADMIN'), { role: 'OWNER' }))
  assert.ok(mayGrant({ role: 'ADMIN' }, developer))
  for (const own of [{ role: 'DEVOPS' }, { role: 'VIEWER' }, developer] as const) {
    assert.ok(!mayGrant(own, { role: 'VIEWER' }))
    assert.ok(!mayGrant(own, having('READ')))
  }
})

test('a custom role has rights by project and mode, and reads the organization', () => {
  assert.equal(may(developer, {}), 'read')
  assert.equal(may(developer, { projectId: 'shop', mode: 'DEVELOPMENT' }), 'read deploy write')
  assert.equal(may(developer, { projectId: 'shop', mode: 'STAGING' }), 'read deploy')
  assert.equal(may(developer, { projectId: 'shop', mode: 'PREVIEW' }), 'read')
  assert.equal(may(developer, { projectId: 'shop', mode: 'PRODUCTION' }), '')
  assert.equal(may(developer, { projectId: 'shop', mode: 'ODD' }), '')
  assert.equal(may(developer, { projectId: 'docs', mode: 'PRODUCTION' }), 'read deploy write admin')
  assert.equal(may(developer, { projectId: 'elsewhere', mode: 'DEVELOPMENT' }), '')
  assert.equal(may(developer, { clusterId: 'cluster' }), 'read deploy write admin')
  assert.equal(may(developer, { clusterId: 'shared' }), 'read')
  assert.equal(may(developer, { clusterId: 'other' }), 'read')
})

test('a project can be read with one mode, and changed only with every mode', () => {
  assert.equal(may(developer, { projectId: 'shop' }), 'read')
  assert.equal(may(developer, { projectId: 'blog' }), 'read deploy write')
  assert.equal(may(developer, { projectId: 'docs' }), 'read deploy write admin')
  assert.equal(may(developer, { projectId: 'dark' }), '')
  assert.equal(may(developer, { projectId: 'elsewhere' }), '')
})

test('built-in roles have the same rights everywhere below the organization', () => {
  const places = [{}, { projectId: 'shop' }, { projectId: 'shop', mode: 'PRODUCTION' }, { clusterId: 'cluster' }]
  const table = roleNames.map((role) => [role, ...places.map((place) => may({ role }, place))])
  assert.deepEqual(table, [
    ['OWNER', ...Array.from({ length: 4 }).fill('read deploy write admin')],
    ['ADMIN', ...Array.from({ length: 4 }).fill('read deploy write admin')],
    ['DEVOPS', 'read deploy write', 'read deploy write admin', 'read deploy write admin', 'read deploy write'],
    ['BILLING_MANAGER', 'read', '', '', 'read'],
    ['VIEWER', 'read', 'read', 'read', 'read'],
  ])
})

test('an environment is made where the project allows its mode and the cluster allows environments', () => {
  const make = (projectId: string, mode: string, clusterId: string) => () =>
    requireNewEnvironment({ rights: developer }, { projectId, mode, clusterId })
  make('shop', 'DEVELOPMENT', 'shared')()
  make('docs', 'PRODUCTION', 'cluster')()
  assert.throws(make('shop', 'DEVELOPMENT', 'other'), { code: 'forbidden', message: /ENV_CREATOR/ })
  assert.throws(make('shop', 'STAGING', 'shared'), { code: 'forbidden', message: /STAGING/ })
})

test('lists exclude unreadable objects', () => {
  const seen = visible({ rights: developer })
  assert.ok(!seen.all)
  assert.deepEqual(['shop', 'docs', 'blog', 'dark', 'elsewhere'].filter(seen.project), ['shop', 'docs', 'blog'])
  assert.ok(seen.environment('shop', 'STAGING') && !seen.environment('shop', 'PRODUCTION'))
  assert.ok(seen.cluster('other'))
  assert.ok(visible({ rights: { role: 'VIEWER' } }).all && visible({ rights: having('DEPLOY') }).all)
  assert.ok(!visible({ rights: { role: 'BILLING_MANAGER' } }).project('shop'))
})
