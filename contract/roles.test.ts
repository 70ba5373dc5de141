import assert from 'node:assert/strict'
import { test } from 'node:test'
import { credentials } from './authorization.ts'
import { environmentModes } from './enums.ts'
import {
  isOwner,
  mayAccess,
  mayUseCluster,
  type Place,
  permissionsAnywhere,
  permissionsAt,
  type Rights,
  within,
} from './roles.ts'

const somewhere = { projectId: 'project', clusterId: 'cluster' }
const levels = ['VIEWER', 'ENV_CREATOR', 'ADMIN'] as const
const ofClusters = levels.map((level): Rights => ({ custom: { clusters: { cluster: level }, projects: {} } }))
const ofModes: Rights = {
  custom: { clusters: {}, projects: { project: { is_admin: false, modes: { STAGING: 'MANAGER' } } } },
}
const kinds = [...credentials(somewhere).flatMap(({ rights }) => rights ?? []), ...ofClusters, ofModes]
const places: readonly Place[] = [
  {},
  { clusterId: 'cluster' },
  { clusterId: 'other' },
  ...['project', 'other', ''].flatMap((projectId) => [
    { projectId },
    ...environmentModes.map((mode) => ({ projectId, mode })),
  ]),
]
const accesses = ['read', 'deploy', 'write', 'admin'] as const

test('rights within others permit at each place exactly what both permit', () => {
  for (const rights of kinds) {
    for (const limit of kinds) {
      const both = within(rights, limit)
      const label = JSON.stringify([rights, limit, both])
      for (const place of places) {
        for (const access of accesses) {
          const may = (one: Rights) => mayAccess(permissionsAt(one, place), access)
          assert.equal(may(both), may(rights) && may(limit), `${access} ${JSON.stringify(place)} ${label}`)
        }
      }
      for (const cluster of ['cluster', 'other']) {
        const may = (one: Rights) => mayUseCluster(one, cluster)
        assert.equal(may(both), may(rights) && may(limit), label)
      }
      assert.equal(isOwner(both), isOwner(rights) && isOwner(limit), label)
      for (const access of accesses) {
        const somewhere = places.some((place) => mayAccess(permissionsAt(both, place), access))
        if (mayAccess(permissionsAnywhere(both), access)) assert.ok(somewhere, label)
      }
    }
  }
})

test('rights within those of an administrator stay as they are, except those of the owner', () => {
  const admin: Rights = { role: 'ADMIN' }
  for (const rights of kinds) assert.equal(within(rights, admin), isOwner(rights) ? admin : rights)
})
