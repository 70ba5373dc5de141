import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Metadata } from './client/index.ts'
import { fieldsHash, hasDrifted, listedObjects, type ObjectState, toObjectState } from './drift.ts'
import { environmentNamespace, environmentPolicies } from './environment-objects.ts'
import { annotation } from './labels.ts'
import { releaseObjects } from './manifests.ts'
import { testRelease } from './test-release.ts'

const owned = (fieldsV1: object, manager = 'quayside', operation: 'Apply' | 'Update' = 'Apply') => ({
  manager,
  operation,
  fieldsV1,
})
const fields = { 'f:spec': { 'f:replicas': {}, 'f:template': { 'f:image': {} } }, 'f:metadata': { 'f:labels': {} } }
const objectWith = (managedFields: NonNullable<Metadata['managedFields']>, applied?: string) => ({
  metadata: {
    name: 'a',
    managedFields,
    ...(applied !== undefined && { annotations: { [annotation.applied]: applied } }),
  },
})
const mark = fieldsHash(objectWith([owned(fields)]).metadata)

test('an object is changed once somebody else owns one of its fields', () => {
  const is = (managedFields: NonNullable<Metadata['managedFields']>) =>
    toObjectState(objectWith(managedFields, mark)).isChanged
  assert.equal(is([owned(fields)]), false)
  assert.equal(is([owned({ ...fields, 'f:spec': { 'f:template': {} } }), owned({}, 'kubectl-edit', 'Update')]), true)
  assert.equal(is([owned({ 'f:spec': fields['f:spec'] })]), true)
  assert.equal(is([]), true)
})

test('neither additions of others nor the order of fields nor the number of replicas is a change', () => {
  const { 'f:replicas': _, ...spec } = fields['f:spec']
  const others = { 'f:metadata': fields['f:metadata'], 'f:spec': spec }
  const added = owned({ 'f:metadata': { 'f:annotations': { 'f:x': {} } } }, 'kubectl', 'Update')
  assert.equal(toObjectState(objectWith([added, owned(others)], mark)).isChanged, false)
})

test('an object without a mark, of an earlier version, is not changed', () => {
  assert.equal(toObjectState(objectWith([owned(fields)])).isChanged, false)
})

const seen = (...names: string[]): ReadonlyMap<string, ObjectState> =>
  new Map(names.map((name) => [name, { isChanged: false, objects: [] }]))
const owner = (objects: string[], isChanged = false): ObjectState => ({ isChanged, objects })

test('a missing or changed object of a release is found, and a kind that cannot be read is not', () => {
  const both = owner(['Secret/a', 'Service/web'])
  const kinds = (secrets: ReturnType<typeof seen> | undefined) =>
    new Map<string, ReturnType<typeof seen> | undefined>([
      ['Secret', secrets],
      ['Service', seen('n/web')],
    ])
  assert.equal(hasDrifted(both, 'n', kinds(seen('n/a'))), false)
  assert.equal(hasDrifted(both, 'n', kinds(seen('other/a'))), true)
  assert.equal(hasDrifted(both, 'n', kinds(undefined)), false)
  assert.equal(hasDrifted(both, 'n', kinds(new Map([['n/a', owner([], true)]]))), true)
  assert.equal(hasDrifted(owner([], true), 'n', kinds(undefined)), true)
})

test('a Deployment names the other objects of its release, and a namespace those of its environment', () => {
  const objects = releaseObjects(testRelease({ targets: { cpuPercent: 60 } }), { instance: 'here' })
  const [deployment] = objects.filter(({ kind }) => kind === 'Deployment')
  const others = objects.filter((one) => one !== deployment)
  assert.equal(deployment?.metadata.annotations?.[annotation.objects], listedObjects(others))
  assert.equal(others.length, 4)
  const environment = '01a20b53-0000-7002-849b-000000000003'
  const namespace = environmentNamespace(environment, 'here', environmentPolicies(environment, 'here'))
  assert.equal(namespace.metadata.annotations?.[annotation.objects], 'NetworkPolicy/quayside-isolation')
})
