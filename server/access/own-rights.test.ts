import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownRights } from './own-rights.ts'

test('ownRights returns the same permissions everywhere for a built-in role', () => {
  assert.deepEqual(ownRights({ role: 'DEVOPS' }, true), {
    is_owner: false,
    organization: ['DEPLOY', 'WRITE'],
    projects: [],
    clusters: [],
    other_projects: ['ADMIN'],
    other_clusters: { permissions: ['DEPLOY', 'WRITE'], creates_environments: true },
  })
})

test('ownRights lists the projects and clusters of a custom role', () => {
  const custom = {
    clusters: { c1: 'ENV_CREATOR' as const },
    projects: { p1: { is_admin: false, modes: { STAGING: 'MANAGER' as const, PRODUCTION: 'VIEWER' as const } } },
  }
  const { organization, projects, clusters, other_projects, other_clusters } = ownRights({ custom }, true)
  assert.deepEqual(organization, ['READ'])
  assert.deepEqual(projects, [
    {
      project_id: 'p1',
      permissions: ['READ'],
      modes: [
        { mode: 'DEVELOPMENT', permissions: [] },
        { mode: 'PREVIEW', permissions: [] },
        { mode: 'PRODUCTION', permissions: ['READ'] },
        { mode: 'STAGING', permissions: ['READ', 'DEPLOY', 'WRITE'] },
      ],
    },
  ])
  assert.deepEqual(clusters, [{ cluster_id: 'c1', permissions: ['READ'], creates_environments: true }])
  assert.deepEqual(other_projects, [])
  assert.deepEqual(other_clusters, { permissions: ['READ'], creates_environments: false })
})

test('ownRights lets an admin do what the owner may if the organization has no owner', () => {
  assert.equal(ownRights({ role: 'ADMIN' }, true).is_owner, false)
  assert.equal(ownRights({ role: 'ADMIN' }, false).is_owner, true)
  assert.equal(ownRights({ role: 'VIEWER' }, false).is_owner, false)
})
