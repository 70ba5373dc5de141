import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isRecord } from './api-proxy.ts'
import { accountRules } from './chart-account.ts'
import { refusalOfAccount } from './check-account.ts'
import { refusalOfRole } from './check-role.ts'

const release = { namespace: 'home', name: 'chart-1' }
const secrets = '/api/v1/namespaces/home/secrets'
const record = `${secrets}/sh.helm.release.v1.chart-1.v12`
const selector = (labels: string) => `${secrets}?labelSelector=${encodeURIComponent(labels)}`

test('records of the release are read and written with the rights of the platform', () => {
  for (const [path, method] of [
    [record, 'GET'],
    [record, 'PUT'],
    [`${record}?fieldManager=helm`, 'DELETE'],
    [selector('name=chart-1,owner=helm'), 'GET'],
    [selector('name=chart-1,owner=helm,status=deployed'), 'GET'],
  ] as const) {
    assert.equal(isRecord(path, method, release), true, path)
  }
})

test('nothing else is', () => {
  for (const [path, method] of [
    [secrets, 'GET'],
    [secrets, 'POST'],
    [selector('owner=helm'), 'GET'],
    [selector('name=chart-12,owner=helm'), 'GET'],
    [selector('name=chart-1,owner=helm'), 'DELETE'],
    [`${selector('name=chart-1,owner=helm')}&labelSelector=a`, 'GET'],
    [`${secrets}/quayside-pull`, 'GET'],
    [`${secrets}/sh.helm.release.v1.chart-12.v1`, 'GET'],
    [`${record}x`, 'GET'],
    [`${record}/../../quayside-pull`, 'GET'],
    [`${secrets}/%73h.helm.release.v1.chart-1.v1`, 'GET'],
    [`/${record}`, 'GET'],
    [record.replace('home', 'other'), 'GET'],
    [`/api/v1/namespaces/home/pods/../secrets/sh.helm.release.v1.chart-1.v1`, 'GET'],
  ] as const) {
    assert.equal(isRecord(path, method, release), false, path)
  }
})

test('the account of a chart without Secrets may only create some', () => {
  const ofSecrets = (names: readonly string[]) =>
    accountRules(names).filter((rule) => JSON.stringify(rule).includes('"secrets"'))
  assert.deepEqual(ofSecrets([]), [{ apiGroups: [''], resources: ['secrets'], verbs: ['create'] }])
  assert.deepEqual(Object(ofSecrets(['own'])[1]).resourceNames, ['own'])
})

test('the account of a chart reads and removes addresses of Services, and writes none', () => {
  const found = accountRules([]).filter((rule) => /"endpoint(?:s|slices)"/.test(JSON.stringify(rule)))
  const verbs = ['get', 'list', 'watch', 'delete']
  assert.deepEqual(found, [
    { apiGroups: [''], resources: ['endpoints'], verbs },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs },
  ])
})

const role = (...rules: object[]) => ({
  ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'r' } },
  rules,
})
const own = new Set(['own'])
const reading = { apiGroups: [''], resources: ['secrets'], verbs: ['get'] }

test('a Role may grant Secrets of the chart, by their names', () => {
  assert.equal(refusalOfRole(role({ ...reading, resourceNames: ['own'] }), own), undefined)
  assert.equal(refusalOfRole(role({ ...reading, verbs: ['create'] }), own), undefined)
  assert.equal(refusalOfRole(role({ ...reading, resources: ['pods'] }), own), undefined)
  assert.equal(refusalOfRole(role(), own), undefined)
})

test('a Role that grants other Secrets is refused', () => {
  assert.match(refusalOfRole(role(reading), own) ?? '', /grants all Secrets/)
  assert.match(refusalOfRole(role({ ...reading, resources: ['*'] }), own) ?? '', /grants all Secrets/)
  assert.match(refusalOfRole(role({ ...reading, apiGroups: ['*'], verbs: ['*'] }), own) ?? '', /grants all Secrets/)
  assert.match(refusalOfRole(role({ ...reading, resourceNames: ['own', 'other'] }), own) ?? '', /the Secret "other"/)
})

for (const [group, resource] of [
  ['', 'services'],
  ['', 'endpoints'],
  ['discovery.k8s.io', 'endpointslices'],
] as const) {
  test(`a Role may read ${resource}, but not write them`, () => {
    const rule = (verbs: string[], more: object = {}) =>
      role({ apiGroups: [group], resources: [resource], verbs, ...more })
    assert.equal(refusalOfRole(rule(['get', 'list', 'watch', 'delete']), own), undefined)
    const message = new RegExp(`lets pods write ${resource}.*grant get, list, watch`)
    for (const verb of ['create', 'update', 'patch', '*']) {
      assert.match(refusalOfRole(rule(['get', verb]), own) ?? '', message)
      assert.match(refusalOfRole(rule([verb], { apiGroups: ['*'], resourceNames: ['web'] }), own) ?? '', message)
    }
  })
}

test('a Role whose group is null is read as the API server reads it', () => {
  const rule = { apiGroups: [null], resources: ['services'], verbs: ['create'] }
  assert.match(refusalOfRole(role(rule), own) ?? '', /lets pods write services/)
})

test('a Role that reads Endpoints and creates events is granted, as of charts of RabbitMQ', () => {
  const reading = { apiGroups: [''], resources: ['endpoints'], verbs: ['get'] }
  const events = { apiGroups: [''], resources: ['events'], verbs: ['create'] }
  assert.equal(refusalOfRole(role(reading, events), own), undefined)
})

test('pods and tokens may only have accounts of the chart', () => {
  const accounts = new Set(['own'])
  const pod = (spec: object) => ({ ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } }, spec })
  const nested = (serviceAccountName: string) => pod({ template: { spec: { serviceAccountName } } })
  assert.equal(refusalOfAccount(nested('own'), accounts), undefined)
  assert.equal(refusalOfAccount(nested('default'), accounts), undefined)
  assert.equal(refusalOfAccount(pod({}), accounts), undefined)
  assert.match(refusalOfAccount(nested('other'), accounts) ?? '', /service account "other", which is not of the chart/)
  assert.match(refusalOfAccount(pod({ serviceAccount: 'other' }), accounts) ?? '', /"other"/)
  const annotations = { 'kubernetes.io/service-account.name': 'other' }
  const token = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 't', annotations } }
  assert.match(refusalOfAccount(token, accounts) ?? '', /"other"/)
})
