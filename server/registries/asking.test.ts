import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { chartValues, index, outsideLogin, startOutside } from '../../test/support/outside.ts'
import { selfSigned } from '../../test/support/self-signed.ts'
import { createAddressGuard } from '../lib/address.ts'
import { createAsk } from '../lib/outside.ts'
import { createSafeFetch } from '../lib/safe-fetch.ts'
import { createChartRepository } from './chart-repository.ts'
import { createImageRegistry } from './image-registry.ts'
import type { Opened } from './login.ts'

const outside = await startOutside()
after(() => outside.close())
const { signal } = new AbortController()
const asking = (allowedPrivateCidrs: readonly string[]) => {
  const ask = createAsk(createSafeFetch(createAddressGuard({ allowedPrivateCidrs })))
  const images = createImageRegistry(ask)
  return { images, charts: createChartRepository(ask, images) }
}
const { images, charts } = asking(['127.0.0.0/8'])
const opened = (kind: string, path = '', change: Partial<Opened> = {}): Opened => ({
  kind,
  name: 'ours',
  url: `${outside.origin}${path}`,
  config: { username: outsideLogin.username },
  secrets: { password: outsideLogin.password },
  ...change,
})
const registry = opened('GENERIC_CR')
const web = { name: 'web', version: '1.2.0' }

test('tags are read with the token to which the registry refers its callers', async () => {
  assert.deepEqual(await images.tags(registry, { name: 'team/shop', signal }), ['1.0', '1.1', 'latest'])
  assert.deepEqual(await images.tags(registry, { name: 'team/none', signal }), [])
  assert.deepEqual(await images.tags(opened('GENERIC_CR', '/team'), { name: 'shop', signal }), ['1.0', '1.1', 'latest'])
  const token = outside.asked.find(({ path }) => path.startsWith('/token'))
  assert.equal(token?.path, '/token?service=outside&scope=repository%3Ateam%2Fshop%3Apull')
})

test('images are found by a part of their name, only those below the path of the address', async () => {
  assert.deepEqual(await images.search(registry, 'shop', signal), ['team/shop', 'other/shop'])
  assert.deepEqual(await images.search(opened('GENERIC_CR', '/team'), '', signal), ['shop', 'web'])
})

test('a tag has a digest, or a message says what is missing', async () => {
  assert.match((await images.digest(registry, { name: 'team/shop', tag: '1.1', signal })) ?? '', /^sha256:a/)
  await assert.rejects(images.digest(registry, { name: 'team/shop', tag: '9', signal }), /has no team\/shop:9/)
  for (const name of ['../x', '-x', 'Team/shop', 'a//b', 'a b', 'x'.repeat(300), 'a?b', 'a/..']) {
    await assert.rejects(images.digest(registry, { name, tag: '1', signal }), { code: 'invalid' }, name)
  }
  for (const tag of ['../1', '-x', 'a/b', 'a b', '']) {
    await assert.rejects(images.digest(registry, { name: 'team/shop', tag, signal }), { code: 'invalid' }, tag)
  }
})

test('a wrong password is reported without repeating it', async () => {
  const wrong = opened('GENERIC_CR', '', { secrets: { password: 'SECRET-WRONG' } })
  await assert.rejects(images.tags(wrong, { name: 'team/shop', signal }), (error: Error) => {
    assert.match(error.message, /denied access/)
    assert.ok(!error.message.includes('SECRET'))
    return true
  })
})

test('an index lists charts with their versions', async () => {
  const repository = opened('HTTPS', '/charts')
  assert.deepEqual(await charts.charts(repository, undefined, signal), [
    { chart_name: 'empty', versions: [] },
    { chart_name: 'web', versions: ['1.2.0', '1.1.0'] },
  ])
  assert.deepEqual(await charts.charts(repository, 'nothing', signal), [])
  await assert.rejects(charts.charts(opened('HTTPS', '/charts', { secrets: {} }), undefined, signal), /denied access/)
  await assert.rejects(charts.charts(opened('HTTPS', ''), undefined, signal), { code: 'invalid' })
})

test('default values come from the packed chart, only from the chart itself', async () => {
  assert.equal(await charts.defaultValues(opened('HTTPS', '/charts'), web, signal), chartValues)
  await assert.rejects(
    charts.defaultValues(opened('HTTPS', '/charts'), { ...web, version: '9' }, signal),
    /no chart web/,
  )
  await assert.rejects(charts.defaultValues(opened('HTTPS', '/charts'), { ...web, version: '1.1.0' }, signal), /404/)
})

test('charts in image registries are read, and their layers are fetched from other hosts without the password', async () => {
  const packed = opened('OCI_GENERIC_CR', '/team')
  assert.deepEqual(await charts.charts(packed, 'web', signal), [{ chart_name: 'web', versions: ['1.2.0+build'] }])
  await assert.rejects(charts.charts(packed, undefined, signal), /chartName is required/)
  outside.asked.length = 0
  assert.equal(await charts.defaultValues(packed, web, signal), chartValues)
  assert.deepEqual(outside.asked.at(-1), { path: '/cdn', authorization: undefined })
})

test('cloud keys are not used as a password', async () => {
  const cloud = opened('ECR', '', { config: { region: 'eu-west-3' }, secrets: { secret_access_key: 'x' } })
  await assert.rejects(images.tags(cloud, { name: 'team/shop', signal }), /keys of a cloud/)
})

test('private addresses are only contacted if the operator listed them', async () => {
  const strict = asking([])
  const before = outside.asked.length
  await assert.rejects(strict.images.tags(registry, { name: 'team/shop', signal }), /is not public/)
  await assert.rejects(strict.charts.charts(opened('HTTPS', '/charts'), undefined, signal), /is not public/)
  for (const url of ['http://169.254.169.254', 'http://[::1]', 'https://localhost']) {
    await assert.rejects(
      strict.charts.charts(opened('HTTPS', '', { url }), undefined, signal),
      { code: 'invalid' },
      url,
    )
  }
  assert.equal(outside.asked.length, before)
})

test('a certificate that nobody vouches for is taken where the repository says so, and of its host alone', async () => {
  const answer = (path = '') =>
    path.endsWith('index.yaml') ? index.replace('packed/', `${outside.origin}/charts/packed/`) : ''
  const server = createServer(selfSigned, (request, response) => response.end(answer(request.url)))
  server.listen(0, '127.0.0.1').unref()
  await once(server, 'listening')
  const bound = server.address()
  const url = `https://127.0.0.1:${typeof bound === 'object' ? bound?.port : 0}`
  const strict = opened('HTTPS', '', { url, skip_tls_verification: false })
  await assert.rejects(charts.charts(strict, undefined, signal), /certificate/)
  const lax = { ...strict, skip_tls_verification: true }
  assert.equal((await charts.charts(lax, undefined, signal)).length, 2)
  // The chart is on another host, which gets no password.
  await assert.rejects(charts.defaultValues(lax, web, signal), /denied access/)
  server.close()
})

/** A server that gives every request the same answer and records the requests. */
async function answering(answer: RequestListener) {
  const asked: { readonly path: string; readonly authorization: string | undefined }[] = []
  const server = createHttpServer((request, response) => {
    asked.push({ path: request.url ?? '', authorization: request.headers.authorization })
    answer(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  server.unref()
  after(() => server.close())
  // A listening TCP server has an address with a port.
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}
const demand = (realm: string) => ({ 'www-authenticate': `Bearer realm="${realm}/token",service="x"` })

test('a password never goes to another host that a registry without a certificate names', async () => {
  const thief = await answering((_request, response) => void response.end('{"token":"x"}'))
  const server = await answering((_request, response) => void response.writeHead(401, demand(thief.origin)).end())
  const named = opened('GENERIC_CR', '', { url: server.origin })
  await assert.rejects(images.tags(named, { name: 'team/shop', signal }), /must not receive it/)
  assert.deepEqual(thief.asked, [])
})

test('the target of a redirect gets no password, and does not decide where one goes', async () => {
  const thief = await answering((_request, response) => void response.writeHead(401, demand(thief.origin)).end())
  const server = await answering((request, response) => {
    if (request.headers.authorization === undefined) {
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
    }
    response.writeHead(307, { location: `${thief.origin}/v2/x` }).end()
  })
  const open = await answering(
    (_request, response) => void response.writeHead(307, { location: `${thief.origin}/v2/x` }).end(),
  )
  const blob = { name: 'team/shop', digest: `sha256:${'a'.repeat(64)}`, maxBytes: 1000, signal }
  for (const { origin } of [server, open]) {
    await assert.rejects(images.blob(opened('GENERIC_CR', '', { url: origin }), blob), /denied access/)
  }
  assert.equal(thief.asked.length, 2)
  assert.deepEqual(
    thief.asked.flatMap(({ authorization }) => authorization ?? []),
    [],
  )
})
