import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admittedBy, type MemberFacts, peopleLists, rolesAdmitted, rolesIn, signInRule } from './sign-in-rule.ts'

const projectId = '01900000-0000-7000-8000-000000000001'
const preview = { projectId, mode: 'PREVIEW' }
const nobody: MemberFacts = {
  account: '',
  role: null,
  custom_role_id: null,
  custom_role_name: null,
  custom_rights: null,
  permissions: [],
  signed_out_ms: null,
}
const support = (last: string, project: string, mode: 'PREVIEW' | 'PRODUCTION'): Partial<MemberFacts> => ({
  custom_role_id: `01900000-0000-7000-8000-00000000000${last}`,
  custom_role_name: 'Support',
  custom_rights: { clusters: {}, projects: { [project]: { is_admin: false, modes: { [mode]: 'VIEWER' } } } },
})
const members = Object.entries<Partial<MemberFacts>>({
  owner: { role: 'OWNER' },
  admin: { role: 'ADMIN' },
  devops: { role: 'DEVOPS' },
  viewer: { role: 'VIEWER' },
  billing: { role: 'BILLING_MANAGER' },
  sees: support('c', projectId, 'PREVIEW'),
  otherMode: support('d', projectId, 'PRODUCTION'),
  otherProject: support('e', 'else', 'PREVIEW'),
  outside: { permissions: ['READ'] },
}).map(([account, facts]): MemberFacts => ({ ...nobody, ...facts, account }))

const admitted = (setting: string): string[] => [...admittedBy(setting, members, preview).keys()]

test('every member enters who may read the environment', () => {
  assert.deepEqual(admitted('member'), ['owner', 'admin', 'devops', 'viewer', 'sees', 'outside'])
})

test('roles admit their members by name or id, and administrators always enter', () => {
  assert.deepEqual(admitted('DevOps'), ['owner', 'admin', 'devops'])
  assert.deepEqual(admitted(' support ,viewer'), ['owner', 'admin', 'viewer', 'sees'])
  assert.deepEqual(admitted('01900000-0000-7000-8000-00000000000C'), ['owner', 'admin', 'sees'])
  assert.deepEqual(admitted('Billing Manager'), ['owner', 'admin'])
  assert.deepEqual(admitted('a role that was deleted'), ['owner', 'admin'])
})

test('a value that cannot be read admits no role', () => {
  for (const value of [',', 'DevOps,', ' ', 'a\nb', 'x'.repeat(256), 'a,'.repeat(20) + 'a']) {
    assert.throws(() => rolesIn(value), value)
    assert.deepEqual(admitted(value), ['owner', 'admin'])
  }
})

test('a rule has the last sign-out of each person, and nobody without a sign-in page', () => {
  const people = admittedBy('member', [{ ...nobody, account: 'ada', role: 'VIEWER', signed_out_ms: 7 }], preview)
  assert.deepEqual(people.get('ada'), { sinceMs: 7, role: 'Viewer' })
  const issuer = { page: 'https://p', key: 'k' }
  assert.deepEqual(signInRule('o', ['VIEWER'], issuer), { ...issuer, organization: 'o', roles: ['VIEWER'] })
  assert.deepEqual(signInRule('o', ['VIEWER'], undefined).roles, [])
})

test('a rule names roles, also without a member, and each member is in one list', () => {
  const custom = '01900000-0000-7000-8000-00000000000c'
  assert.deepEqual(rolesAdmitted('DevOps', [], preview), ['OWNER', 'ADMIN', 'DEVOPS'])
  const seeing = members.filter(({ account }) => account === 'sees' || account === 'outside')
  assert.deepEqual(rolesAdmitted('member', seeing, preview), [
    ...['OWNER', 'ADMIN', 'DEVOPS', 'VIEWER', custom, 'permissions READ'],
  ])
  const lists = peopleLists(new Map([['o', seeing]]))
  assert.deepEqual(lists, { [`o/${custom}`]: { sees: 0 }, 'o/permissions READ': { outside: 0 } })
})
