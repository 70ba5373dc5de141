import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { clusterSettings } from '@quayside/contract/services/cluster-settings.ts'
import { testDatabase } from '../database/testing.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { testVault } from '../vault/testing.ts'
import { createClusterParts } from './cluster-parts.ts'
import { createClusterRecords } from './clusters.ts'
import { checkedDns } from './dns.ts'
import { readAccess } from './kubeconfig.ts'
import { tlsOfCluster } from './part-store.ts'
import { addOrganization, owner, request, rowOf } from './testing.ts'

const { sql: database } = await testDatabase({ after })
const vault = await testVault({ after }, database)
const options = {
  database,
  clock,
  vault,
  domain: 'apps.test',
  ableOf: (engine: string | null) =>
    engine === null ? undefined : { shapes: new Set<never>(), settings: new Set<never>() },
  allowsHost: (host: string) => host !== '10.0.0.1',
  inCluster: undefined,
}
const parts = createClusterParts(options)
const clusters = createClusterRecords({ database, clock, ceilingOf: () => ({ cpu: 1, memory: 1 }) })
const { organizationId, builtIn } = await addOrganization(database)
const { id } = await clusters.create(owner(organizationId), request('record'))
const kubeconfig = `apiVersion: v1
kind: Config
current-context: here
clusters: [{ name: one, cluster: { server: https://kubernetes.example.org:6443 } }]
contexts: [{ name: here, context: { cluster: one, user: me } }]
users: [{ name: me, user: { token: hidden } }]
`

test('a kubeconfig is returned unchanged, and is stored sealed', async () => {
  await assert.rejects(parts.kubeconfig(organizationId, id, false), { code: 'invalid', message: /no kubeconfig yet/ })
  await parts.setKubeconfig(organizationId, id, kubeconfig)
  assert.equal(await parts.kubeconfig(organizationId, id, false), kubeconfig)
  assert.ok(!JSON.stringify(await rowOf(database, organizationId, id)).includes('hidden'))
  await assert.rejects(parts.kubeconfig(organizationId, id, true), { message: /^read_only/ })
  await assert.rejects(parts.setKubeconfig(organizationId, builtIn, kubeconfig), { message: /does not run Kubernetes/ })
})

test('a body that is not a kubeconfig is rejected', async () => {
  for (const text of ['{', 'a: [', 'null', '[]', 'kind: Config', 'apiVersion: v1\nkind: Config\nclusters: {}']) {
    await assert.rejects(
      readAccess(text, () => true),
      { code: 'invalid', message: /^The body/ },
      text,
    )
  }
  const bomb = `a: &a [x]\n${Array.from({ length: 30 }, (_, i) => `b${i}: &b${i} [*${i ? `b${i - 1}` : 'a'}, *${i ? `b${i - 1}` : 'a'}]`).join('\n')}`
  await assert.rejects(
    readAccess(bomb, () => true),
    { code: 'invalid' },
  )
})

test('advanced settings of a cluster without an engine are stored, and are in its Helm values', async () => {
  const { id: record } = await clusters.create(owner(organizationId), request('without kubeconfig'))
  const defaults = parts.defaultSettings()
  assert.equal(Object.keys(defaults).length, 62)
  assert.deepEqual(await parts.advancedSettings(organizationId, record), defaults)
  const sent = { 'loki.log_retention_in_week': 4, 'of.tomorrow': [1] }
  assert.deepEqual(await parts.setAdvancedSettings(organizationId, record, sent), { ...defaults, ...sent })
  assert.match(
    await parts.helmValues(organizationId, record),
    /\nadvancedSettings:\n(?: .*\n)*? {2}loki.log_retention_in_week: 4\n/,
  )
  assert.deepEqual(await parts.setAdvancedSettings(organizationId, record, {}), defaults)
  assert.equal(defaults['envoy.gateway_api.retry.num_retries'], 2)
})

test('advanced settings of a cluster that does not act on them are rejected, unless they are stored', async () => {
  const defaults = parts.defaultSettings()
  const set = (values: object) => parts.setAdvancedSettings(organizationId, builtIn, { ...defaults, ...values })
  assert.deepEqual(await set({}), defaults)
  const reason = /^nginx\.hpa\.min_number_instances cannot be 3: .*in the place of nginx.*its default 2\.$/
  await assert.rejects(set({ 'nginx.hpa.min_number_instances': 3 }), { code: 'invalid', message: reason })
  await assert.rejects(set({ 'of.tomorrow': [1] }), { message: /is not an advanced setting here/ })
  const stored = { 'loki.log_retention_in_week': 4, 'of.yesterday': [1] }
  await database`update cluster set advanced_settings = ${database.json(stored)} where id = ${builtIn}`
  assert.deepEqual(await set(stored), { ...defaults, ...stored })
  await assert.rejects(set({ 'loki.log_retention_in_week': 5 }), { code: 'invalid' })
  await assert.rejects(set({ 'aws.iam.admin_group': 'x'.repeat(70_000) }), { message: /at most 65536/ })
})

test('every advanced setting is rejected on a connected cluster with its reason, before its first deployment too', async () => {
  const { id: far } = await clusters.create(owner(organizationId), request('not deployed yet'))
  await database`update cluster set sealed_kubeconfig = 'v1.b25l' where id = ${far}`
  for (const [key, setting] of Object.entries(clusterSettings)) {
    const message = new RegExp(`^${RegExp.escape(key)} cannot be .*: .{20,}\\. Leave it out, or send its default`)
    const value = otherThan(setting.default)
    await assert.rejects(parts.setAdvancedSettings(organizationId, far, { [key]: value }), { code: 'invalid', message })
    assert.deepEqual(
      await parts.setAdvancedSettings(organizationId, far, { [key]: setting.default }),
      parts.defaultSettings(),
    )
  }
})

/** Returns another value of the same type. */
function otherThan(value: unknown): unknown {
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number') return value + 1
  if (typeof value === 'string') return `${value}x`
  if (Array.isArray(value)) return ['10.0.0.0/8']
  return value === null ? 7 : { a: 'b' }
}

test('routes keep their order', async () => {
  const routes = ['b', 'a'].map((target) => ({ destination: '10.0.0.0/8', target, description: '' }))
  assert.deepEqual(await parts.setRoutes(organizationId, id, routes), routes)
  assert.deepEqual(await parts.routes(organizationId, id), routes)
})

test('the names of the built-in cluster are the installation’s, and a record may have any', async () => {
  const local = await rowOf(database, organizationId, builtIn)
  const own = { provider: 'QOVERY', domain: 'Apps.test' } as const
  assert.deepEqual(parts.dnsProvider(local), { dns_provider: { provider: 'QOVERY', domain: 'apps.test' } })
  assert.deepEqual(await parts.setDnsProvider(local, own), { dns_provider: { ...own, domain: 'apps.test' } })
  await assert.rejects(parts.setDnsProvider(local, { ...own, domain: 'other.test' }), { message: /^dns_provider/ })
  const record = await rowOf(database, organizationId, id)
  const cloudflare = { provider: 'CLOUDFLARE', domain: 'x.test', email: 'a@x.test' } as const
  await assert.rejects(parts.setDnsProvider(record, cloudflare), { message: /^dns_provider.api_token is required/ })
  await parts.setDnsProvider(record, { ...cloudflare, api_token: 'hidden-token' })
  // A secret that is omitted is kept.
  await parts.setDnsProvider(record, { ...cloudflare, proxied: true })
  const stored = await rowOf(database, organizationId, id)
  assert.deepEqual(parts.dnsProvider(stored), { dns_provider: { ...cloudflare, proxied: true } })
  assert.ok(stored.sealed_dns_secrets && !JSON.stringify(stored).includes('hidden-token'))
})

test('the domain of a connected cluster changes only while it has no environment', async () => {
  const { id: far } = await clusters.create(owner(organizationId), request('far'))
  const set = async (domain: string) =>
    parts.setDnsProvider(await rowOf(database, organizationId, far), { provider: 'QOVERY', domain })
  await database`update cluster set sealed_kubeconfig = 'v1.b25l' where id = ${far}`
  await set('one.test')
  await set('two.test')
  const [project, environment] = [newId(), newId()]
  await database`insert into project (id, organization_id, created_at, updated_at, name)
    values (${project}, ${organizationId}, now(), now(), 'project')`
  await database`insert into environment (id, project_id, cluster_id, created_at, updated_at, name, mode)
    values (${environment}, ${project}, ${far}, now(), now(), 'environment', 'STAGING')`
  await set('two.test')
  await assert.rejects(set('three.test'), { code: 'conflict', message: /has environments/ })
  await database`delete from environment where id = ${environment}`
  // The domain of the platform is that of a cluster without one.
  await set('apps.test')
  assert.equal((await rowOf(database, organizationId, far)).dns_provider, null)
})

test('each DNS provider requires its own fields', () => {
  const check = (body: object) =>
    checkedDns({ provider: 'ROUTE53', domain: 'x.test', ...body }, null, undefined, undefined)
  const credentials = { type: 'STATIC', aws_access_key_id: 'A' }
  assert.throws(() => check({}), { message: /^dns_provider.credentials is required/ })
  assert.throws(() => check({ credentials }), { message: /^dns_provider.aws_region is required/ })
  assert.throws(() => check({ credentials, aws_region: 'r' }), { message: /aws_secret_access_key is required/ })
  assert.throws(() => check({ domain: 'no domain' }), { message: /^dns_provider.domain/ })
  const whole = { credentials: { ...credentials, aws_secret_access_key: 's' }, aws_region: 'r' }
  assert.deepEqual(check(whole), {
    settings: { provider: 'ROUTE53', domain: 'x.test', credentials, aws_region: 'r', hosted_zone_id: null },
    secret: 's',
  })
})

test('the values of a chart name the cluster', async () => {
  const text = await parts.helmValues(organizationId, id)
  assert.match(text, new RegExp(`clusterId: ${id}\n`))
  assert.match(text, /clusterName: record\n/)
})

test('certificates need a domain of their cluster, which stays while settings name them', async () => {
  const { id: secure } = await clusters.create(owner(organizationId), request('secure'))
  const able = { shapes: new Set<never>(), settings: new Set(['cluster-tls'] as const) }
  const own = createClusterParts({ ...options, ableOf: () => able })
  await database`update cluster set sealed_kubeconfig = 'v1.b25l' where id = ${secure}`
  const settings = { 'tls.secret_name': 'wildcard', 'tls.cluster_issuer': '' }
  const store = (values: object) => own.setAdvancedSettings(organizationId, secure, { ...values })
  const setDomain = async (domain: string) =>
    own.setDnsProvider(await rowOf(database, organizationId, secure), { provider: 'QOVERY', domain })
  assert.equal(await tlsOfCluster(database, secure), undefined)
  await assert.rejects(store(settings), { code: 'invalid', message: /^tls\.secret_name needs a domain of the cluster/ })
  await setDomain('secure.test')
  await store(settings)
  const tls = { domain: 'secure.test', secret: 'wildcard', issuer: null, byController: false }
  assert.deepEqual(await tlsOfCluster(database, secure), tls)
  await assert.rejects(setDomain('apps.test'), {
    code: 'conflict',
    message: /Remove its setting tls\.secret_name first/,
  })
  await store({ 'tls.controller_certificate': true })
  assert.deepEqual(await tlsOfCluster(database, secure), { ...tls, secret: null, byController: true })
  await store({})
  await setDomain('apps.test')
})
