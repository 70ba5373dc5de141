import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'

/** Registry records over the API: database, vault and rules together. */
const platform = await createPlatform({ after })
const { a, b, call, database } = platform
const path = `/organization/${a.organizationId}/containerRegistry`
const charts = `/organization/${a.organizationId}/helmRepository`
const secret = 'SECRET-REGISTRY-1'
let count = 0
const send = (method: string, to: string, body?: object) => call(a.tokens.ADMIN, method, to, body)
const body = (change: object = {}) => ({
  name: `own registry ${++count}`,
  kind: 'GENERIC_CR',
  url: 'https://registry.example.com',
  config: { username: 'robot', password: secret },
  ...change,
})
async function create(change: object = {}) {
  const answer = await send('POST', path, body(change))
  assert.equal(answer.status, 201, answer.text)
  return Object(answer.body)
}
const secretsOf = async (id: string) =>
  (await platform.rooms.registries.containerRegistries.open(database, a.organizationId, id)).secrets

test('an organization starts with the public images of Docker Hub', async () => {
  const { body } = await send('GET', path)
  const [first] = Object(body).results
  assert.equal(first.name, 'Docker Hub')
  assert.equal(first.kind, 'DOCKER_HUB')
  assert.equal(first.url, 'https://docker.io')
})

test('secrets are sealed and never returned', async () => {
  const created = await create()
  assert.deepEqual(created.config, { username: 'robot' })
  for (const to of [path, `${path}/${created.id}`]) assert.ok(!(await send('GET', to)).text.includes(secret))
  const rows = await database`select * from container_registry where id = ${created.id}`
  assert.ok(!JSON.stringify(rows).includes(secret))
  assert.deepEqual(await secretsOf(created.id), { password: secret })
  assert.ok(platform.logged.every((line) => !line.includes(secret)))
})

test('an absent or empty secret is kept, null clears it, and others are replaced', async () => {
  const { id, name } = await create({
    kind: 'GCP_ARTIFACT_REGISTRY',
    config: { region: 'eu', json_credentials: secret },
  })
  const edit = (config: object) =>
    send('PUT', `${path}/${id}`, { name, kind: 'GCP_ARTIFACT_REGISTRY', config, url: 'https://registry.example.com' })
  for (const config of [{ region: 'eu' }, { region: 'us', json_credentials: '' }]) {
    assert.equal((await edit(config)).status, 200)
    assert.deepEqual(await secretsOf(id), { json_credentials: secret })
  }
  assert.equal((await edit({ region: 'eu', json_credentials: 'SECRET-2', username: 'x' })).status, 200)
  assert.deepEqual(await secretsOf(id), { json_credentials: 'SECRET-2' })
  assert.deepEqual(Object((await edit({ region: 'eu', json_credentials: null })).body).config, { region: 'eu' })
  assert.deepEqual(await secretsOf(id), {})
})

test('a stored secret is not sent to another host or kind', async () => {
  const { id, name } = await create()
  for (const change of [
    { url: 'https://evil.example.com' },
    { kind: 'AZURE_CR' },
    { url: 'https://registry.example.com:8443' },
  ]) {
    const answer = await send('PUT', `${path}/${id}`, body({ name, config: { username: 'robot' }, ...change }))
    assert.equal(answer.status, 400, answer.text)
    assert.match(String(Object(answer.body).message), /^config\.password must be sent again/)
  }
  const moved = await send('PUT', `${path}/${id}`, body({ name, url: 'https://other.example.com/path' }))
  assert.equal(moved.status, 200, moved.text)
})

test('names are unique within an organization, ignoring case', async () => {
  const { name } = await create()
  assert.equal((await send('POST', path, body({ name: name.toUpperCase() }))).status, 409)
  const there = await call(
    b.tokens.ADMIN,
    'POST',
    `/organization/${b.organizationId}/containerRegistry`,
    body({ name }),
  )
  assert.equal(there.status, 201)
})

test('each kind has its own address, or requires one', async () => {
  const region = { region: 'fr-par', scaleway_secret_key: secret }
  assert.equal(
    (await create({ kind: 'SCALEWAY_CR', url: undefined, config: region })).url,
    'https://rg.fr-par.scw.cloud',
  )
  assert.equal((await create({ kind: 'GITHUB_CR', url: null, config: {} })).url, 'https://ghcr.io')
  const refusals: readonly (readonly [object, RegExp])[] = [
    [{ url: undefined }, /^url is required/],
    [{ kind: 'ECR', config: {} }, /^config\.region is required/],
    [{ kind: 'GITHUB_ENTERPRISE_CR', config: { username: 'x' } }, /^config\.password is required/],
    [{ kind: 'SCALEWAY_CR', url: null, config: { ...region, region: 'evil.com/x' } }, /^config\.region/],
  ]
  for (const [change, message] of refusals) {
    const answer = await send('POST', path, body(change))
    assert.equal(answer.status, 400, JSON.stringify(change))
    assert.match(String(Object(answer.body).message), message)
  }
})

test('malformed and private addresses and those with a password are rejected', async () => {
  for (const url of [
    'file:///etc/passwd',
    'ftp://registry.example.com',
    'oci://registry.example.com',
    'registry.example.com',
    'http://127.0.0.1:5000',
    'https://localhost',
    'https://169.254.169.254/latest',
    'https://[::1]',
    'https://0x7f.1',
    'https://user:pass@registry.example.com',
    'https://registry.example.com:22',
    'https://registry.example.com?x=1',
    '--upload-pack=id',
  ]) {
    const answer = await send('POST', path, body({ url }))
    assert.equal(answer.status, 400, url)
    assert.match(String(Object(answer.body).message), /^url/, url)
  }
})

test('a used registry cannot be deleted, and its change marks services as out of date', async () => {
  const { id, name } = await create()
  const service = await send('POST', `/environment/${a.objects.environmentId}/container`, {
    name: 'uses-it',
    registry_id: id,
    image_name: 'team/shop',
    tag: '1',
    healthchecks: {},
  })
  assert.equal(service.status, 201, service.text)
  const version = async () => {
    const [row] = await database<{ version: string }[]>`
      select config_version as version from service where container_registry_id = ${id}`
    return Number(row?.version)
  }
  const before = await version()
  assert.equal((await send('PUT', `${path}/${id}`, body({ name }))).status, 200)
  assert.equal(await version(), before + 1)
  const refused = await send('DELETE', `${path}/${id}`)
  assert.equal(refused.status, 409)
  assert.match(refused.text, /is used by 1 services/)
  assert.equal(Object((await send('GET', `${path}/${id}`)).body).associated_services_count, 1)
  const used = Object((await send('GET', `${path}/${id}/associatedServices`)).body).results
  assert.deepEqual([used[0].service_name, used[0].service_type], ['uses-it', 'CONTAINER'])
  await database`delete from service where container_registry_id = ${id}`
  assert.equal((await send('DELETE', `${path}/${id}`)).status, 204)
})

test('Helm repositories may be image registries with their own address', async () => {
  const chart = { name: 'packed', skip_tls_verification: true, config: {} }
  const packed = await send('POST', charts, {
    ...chart,
    kind: 'OCI_GENERIC_CR',
    url: 'oci://registry.example.com/charts/',
  })
  assert.equal(packed.status, 201, packed.text)
  assert.equal(Object(packed.body).url, 'oci://registry.example.com/charts')
  assert.equal(Object(packed.body).skip_tls_verification, true)
  assert.equal((await send('POST', charts, { ...chart, kind: 'HTTPS', url: 'oci://registry.example.com' })).status, 400)
})

test('TLS verification of a Helm repository is skipped only if its password is sent again', async () => {
  const chart = { name: 'verified', kind: 'HTTPS', url: 'https://charts.example.com' }
  const login = { username: 'u', password: 'p' }
  const made = await send('POST', charts, { ...chart, skip_tls_verification: false, config: login })
  assert.equal(made.status, 201, made.text)
  const put = (skip_tls_verification: boolean, config: object) =>
    send('PUT', `${charts}/${Object(made.body).id}`, { ...chart, skip_tls_verification, config })
  const refused = await put(true, { username: 'u' })
  assert.equal(refused.status, 400, refused.text)
  assert.match(refused.text, /config\.password must be sent again/)
  assert.equal((await put(false, { username: 'u' })).status, 200)
  assert.equal((await put(true, login)).status, 200)
  assert.equal((await put(true, { username: 'u' })).status, 200)
  assert.equal((await put(false, { username: 'u' })).status, 200)
})
