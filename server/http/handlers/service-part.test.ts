import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../../test/support/platform.ts'
import { until } from '../../../test/support/until.ts'
import { readTable } from '../../domains/route-table-store.ts'

const platform = await createPlatform({ after }, { works: true })
const { a, b } = platform
await platform.addRepository(a)
const { organizationId } = a

/** The body of a reply, with any members. */
async function call(method: string, path: string, body?: object, token = a.tokens.ADMIN) {
  const answer = await platform.call(token, method, path, body)
  return { status: answer.status, body: Object(answer.body) }
}
const groupsPath = `/organization/${organizationId}/labelsGroups`
const label = { key: 'team', value: 'shop', propagate_to_cloud_provider: true }
const newGroup = async (name: string): Promise<string> =>
  (await call('POST', groupsPath, { name, labels: [label] })).body.id
const policy = { mode: 'KEDA', scalers: [{ scaler_type: 'cron', role: 'PRIMARY', config_yaml: 'timezone: UTC' }] }

test('a service is created with its groups and policy, returns them, and passes them to its clones', async () => {
  const { environmentId } = await platform.addObjects(a)
  const id = await newGroup('with a service')
  const body = {
    name: 'grouped',
    git_repository: { url: 'http://localhost:3000/git/hello.git' },
    labels_groups: [{ id }],
    autoscaling: policy,
  }
  const made = await call('POST', `/environment/${environmentId}/application`, body)
  assert.equal(made.status, 201, made.body.message)
  for (const record of [made.body, (await call('GET', `/application/${made.body.id}`)).body]) {
    assert.deepEqual(record.labels_groups[0].labels, [label])
    assert.equal(record.autoscaling.service_id, made.body.id)
    assert.equal(record.autoscaling.scalers[0].config_yaml, 'timezone: UTC')
  }
  const { results } = (await call('GET', `/environment/${environmentId}/application`)).body
  const listed = results.find((one: { id: string }) => one.id === made.body.id)
  assert.equal(listed.labels_groups[0].id, id)
  await call('PUT', `/application/${made.body.id}/advancedSettings`, { 'build.timeout_max_sec': 77 })
  const clone = await call('POST', `/application/${made.body.id}/clone`, {
    name: 'copy',
    environment_id: environmentId,
  })
  assert.equal(clone.body.labels_groups[0].id, id, clone.body.message)
  assert.notEqual(clone.body.autoscaling.id, made.body.autoscaling.id)
  assert.equal((await call('GET', `/application/${clone.body.id}/advancedSettings`)).body['build.timeout_max_sec'], 77)
  const items = (await call('GET', `${groupsPath}/${id}/associatedItems`)).body.results
  assert.deepEqual(
    items.map((item: { item_name: string }) => item.item_name),
    ['grouped', 'copy'],
  )
  assert.equal((await call('DELETE', `${groupsPath}/${id}`)).status, 409)
})

test('a change removes groups and policy, and a rejected change keeps them', async () => {
  const { applicationId } = await platform.addObjects(a)
  const path = `/application/${applicationId}`
  const id = await newGroup('to be taken away')
  await call('PUT', path, { labels_groups: [{ id }], autoscaling: policy })
  const foreign = b.objects.more['labelsGroupId']
  const refused = await call('PUT', path, { labels_groups: [{ id }, { id: foreign }], autoscaling: null })
  assert.deepEqual(
    [refused.status, refused.body.message],
    [404, `labels_groups[1].id: the labels group ${foreign} does not exist.`],
  )
  const bad = await call('PUT', path, { autoscaling: { mode: 'KEDA', scalers: [] } })
  assert.deepEqual([bad.status, bad.body.message], [400, 'autoscaling.scalers must have at least 1 entry.'])
  const same = (await call('PUT', path, { cpu: 20 })).body
  assert.deepEqual([same.labels_groups.length, same.autoscaling.mode], [1, 'KEDA'])
  const none = (await call('PUT', path, { labels_groups: [], autoscaling: null })).body
  assert.deepEqual([none.labels_groups, 'autoscaling' in none], [[], false])
})

test('a custom domain of a running service works without another deployment, and is among its links', async () => {
  const { applicationId } = await platform.addObjects(a)
  const path = `/application/${applicationId}`
  await call('POST', `${path}/deploy`, {})
  const deployed = async () => {
    const status = await platform.call(a.tokens.READ, 'GET', `${path}/status`, undefined, { 'x-state-dialect': 'full' })
    return Object(status.body).state === 'DEPLOYED'
  }
  await until('it is deployed', deployed)
  const domain = 'shop.test'
  assert.equal((await call('POST', `${path}/customDomain`, { domain, generate_certificate: false })).status, 201)
  const routed = () => platform.router.routes.find(({ host }) => host === domain)?.endpoints.length === 1
  await until('the router leads there', async () => routed())
  const links = (await call('GET', `${path}/link`)).body.results
  const own = links.map((link: { url: string; is_qovery_domain: boolean }) => [
    link.url.includes(domain),
    link.is_qovery_domain,
  ])
  assert.ok(own.some(([isIt, isOurs]: boolean[]) => isIt && !isOurs))
  assert.ok(own.some(([isIt, isOurs]: boolean[]) => !isIt && isOurs))
  const taken = { domain: 'SHOP.test', generate_certificate: false }
  const other = await call('POST', `/application/${b.objects.applicationId}/customDomain`, taken, b.tokens.ADMIN)
  assert.equal(other.status, 409)
})

test('an advanced setting of the wrong type is rejected by its key, as is a null that is not allowed', async () => {
  const { applicationId } = await platform.addObjects(a)
  const path = `/application/${applicationId}/advancedSettings`
  const put = async (body: object) => {
    const answer = await call('PUT', path, body)
    return [answer.status, answer.body.message]
  }
  const number = 'build.timeout_max_sec must be a whole number.'
  assert.deepEqual(await put({ 'build.timeout_max_sec': '60' }), [400, number])
  assert.equal((await put({ 'network.ingress.enable_cors': null }))[0], 400)
  assert.equal((await put({ 'deployment.affinity.node.required': { a: 1 } }))[0], 400)
  assert.equal((await put({ 'hpa.memory.average_utilization_percent': null }))[0], 201)
  const defaults = (await call('GET', '/defaultApplicationAdvancedSettings')).body
  const own = (await call('GET', path)).body
  assert.deepEqual(own, defaults)
})

test('a deployed service is out of date when groups, policy or advanced settings change', async () => {
  const { applicationId } = await platform.addObjects(a)
  const version = async (): Promise<number> => {
    const [row] = await platform.database<{ config_version: string }[]>`
      select config_version from service where id = ${applicationId}`
    return Number(row?.config_version)
  }
  const before = await version()
  await call('PUT', `/application/${applicationId}/network`, { sticky_session: true })
  assert.equal(await version(), before)
  const path = `/application/${applicationId}/advancedSettings`
  await call('PUT', path, { 'deployment.termination_grace_period_seconds': 5 })
  assert.equal(await version(), before + 1)
  const group = a.objects.more['labelsGroupId']
  await call('PUT', `/application/${applicationId}`, { labels_groups: [{ id: group }] })
  assert.equal(await version(), before + 2)
})

test('an advanced setting of the router applies without a deployment, and an unsupported one is rejected', async () => {
  const { environmentId } = await platform.addObjects(a)
  const body = {
    name: 'ruled',
    git_repository: { url: 'http://localhost:3000/git/hello.git' },
    ports: [{ internal_port: 8080, external_port: 443, publicly_accessible: true, protocol: 'HTTP', name: 'web' }],
  }
  const { id } = (await call('POST', `/environment/${environmentId}/application`, body)).body
  const path = `/application/${id}/advancedSettings`
  const secret = await call('PUT', path, { 'network.ingress.basic_auth_env_var': 'user:password' })
  assert.deepEqual([secret.status, /is not the name of a variable/.test(secret.body.message)], [400, true])
  assert.equal((await call('PUT', path, { 'network.ingress.denylist_source_range': '10.0.0.0/8' })).status, 201)
  const rules = async () => (await readTable(platform.database)).routes.find(({ service }) => service === id)?.rules
  const usual = { maxBodyBytes: 104_857_600, readTimeoutMs: 60_000, sendTimeoutMs: 60_000, clientTimeoutMs: 60_000 }
  assert.deepEqual(await rules(), { ...usual, deny: ['10.0.0.0/8'] })
  assert.equal((await call('PUT', path, {})).status, 201)
  assert.deepEqual(await rules(), usual)
})

test('redirects without end are rejected, and stored ones stay', async () => {
  const { applicationId } = await platform.addObjects(a)
  const path = `/application/${applicationId}`
  const put = async (redirects: object, more: object = {}) => {
    const body = { 'network.router.redirects': JSON.stringify(redirects), ...more }
    const answer = await call('PUT', `${path}/advancedSettings`, body)
    return [answer.status, answer.body.message]
  }
  const why = 'network.router.redirects: a client would be redirected without end:'
  const steps = '/ to /new/ to /new/new/ to /new/new/new/ and so on.'
  assert.deepEqual(await put({ '/*': '/new/*' }), [400, `${why} ${steps}`])
  const circle = { '/a': 'https://circle.test/b', '/b': '/a' }
  assert.equal((await put(circle))[0], 201)
  const domain = { domain: 'circle.test', generate_certificate: false }
  assert.equal((await call('POST', `${path}/customDomain`, domain)).status, 201)
  assert.equal((await put(circle, { 'network.router.compression': true }))[0], 201)
  assert.equal((await put({}))[0], 201)
  const [status, message] = await put(circle)
  assert.equal(status, 400)
  assert.match(message, /end: https:\/\/.*\/a to https:\/\/circle\.test\/b to https:\/\/circle\.test\/a to /)
  assert.equal((await put({ '/*': 'https://circle.test/*' }))[0], 201)
})
