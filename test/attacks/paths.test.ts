import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, type RequestListener } from 'node:http'
import type { Duplex } from 'node:stream'
import { type TestContext, test } from 'node:test'
import type { Route } from '@quayside/contract/routes.ts'
import { portOf, type TestBed, testBed, untilClosed } from '../../router/test-bed.ts'
import { createPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

/** Group O: paths that two programs read differently, at a host whose services differ by path. */

interface Divided {
  readonly bed: TestBed
  /** Service and path of each request that an application received. */
  readonly seen: string[]
}

const secret = { login: 'ann', hash: `$apr1$abcdefgh$${'.'.repeat(22)}` }

/**
 * Starts three applications: `/` is open, `/admin` requires a password, and `/old` is rewritten to
 * `/new`.
 */
async function divided(t: TestContext, change: (routes: readonly Route[]) => readonly Route[] = (routes) => routes) {
  const bed = await testBed(t)
  const seen: string[] = []
  const listener =
    (service: string): RequestListener =>
    (request, response) => {
      seen.push(`${service} ${request.url}`)
      request.resume().on('end', () => response.end(service))
    }
  const serve = async (service: string): Promise<Route> => {
    const server = await bed.application(listener(service))
    server.on('upgrade', (request, socket: Duplex) => {
      seen.push(`${service} ${request.url}`)
      socket.on('error', () => socket.destroy())
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello')
    })
    const endpoints = [{ address: '127.0.0.1', port: portOf(server) }]
    return { host: 'app.localhost', service, name: service, endpoints }
  }
  const routes = change([
    await serve('site'),
    { ...(await serve('admin')), path: '/admin', rules: { basicAuth: [secret] } },
    { ...(await serve('moved')), path: '/old', rewrite: '/new' },
  ])
  assert.equal((await bed.tell('PUT', '/routes', { version: 1, routes })).status, 200)
  return { bed, seen } satisfies Divided
}

const request = (target: string): string => `GET ${target} HTTP/1.1\r\nHost: app.localhost\r\nConnection: close\r\n\r\n`

const ambiguous: readonly string[] = [
  '//admin',
  '///admin',
  '/x//admin',
  '/old//evil.example',
  '/./admin',
  '/x/../admin',
  '/old/../admin',
  '/old/..',
  '/old/.',
  '/%2e/admin',
  '/x/%2e%2e/admin',
  '/x/.%2E/admin',
  '/x/..;/admin',
  '/x/..;a=b/admin',
  '/;x/admin',
  '/x/%2e%2e;/admin',
  '/x%2f..%2fadmin',
  '/%2fadmin',
  '/x/..%2fadmin',
  '/x%5c..%5cadmin',
  '/%5cadmin',
  '\\admin',
  '/\\admin',
  '/x\\..\\admin',
  '/admin%3bx',
  '/%252e%252e/admin',
  '/%2561dmin',
  '/%25%32%65/admin',
  '/%25252fadmin',
  '/%%32%65',
  '/%',
  '/%2',
  '/%zz',
  '/%c0%afadmin',
  '/%c0%ae%c0%ae/admin',
  '/%e0%80%afadmin',
  '/%ff',
  '/%00admin',
  '/admin%0a',
  '/admin%7f',
  '/admin#x',
  '/x#/admin',
  '/\u00e9',
]

for (const target of ambiguous) {
  test(`O1 an ambiguous path reaches no application: ${target}`, async (t) => {
    const { bed, seen } = await divided(t)
    assert.match(await untilClosed(bed.raw(request(target))), /^HTTP\/1\.1 400 /)
    assert.deepEqual(seen, [])
  })
}

const spellings: readonly (readonly [target: string, answer: RegExp, seen: readonly string[]])[] = [
  ['/admin', /^HTTP\/1\.1 401 /, []],
  ['/admin/', /^HTTP\/1\.1 401 /, []],
  ['/admin?x', /^HTTP\/1\.1 401 /, []],
  ['/%61dmin', /^HTTP\/1\.1 401 /, []],
  ['/%61%64%6D%69%6e/x', /^HTTP\/1\.1 401 /, []],
  ['/admin;jsessionid=1', /^HTTP\/1\.1 401 /, []],
  ['/admin;a=b/x', /^HTTP\/1\.1 401 /, []],
  ['/administrator', /200/, ['site /administrator']],
  ['/Admin', /200/, ['site /Admin']],
  ['/x?next=//admin/../%2e', /200/, ['site /x?next=//admin/../%2e']],
  ['/old', /200/, ['moved /new']],
  ['/old/%61;b?c=%2f', /200/, ['moved /new/a;b?c=%2f']],
  ['/%6f%6C%64/x%20y%c3%a9', /200/, ['moved /new/x%20y%C3%A9']],
]

for (const [target, answer, expected] of spellings) {
  test(`O2 each spelling of a path matches one route, and the application gets the matched path: ${target}`, async (t) => {
    const { bed, seen } = await divided(t)
    assert.match(await untilClosed(bed.raw(request(target))), answer)
    assert.deepEqual(seen, expected)
  })
}

test('O3 a target in absolute form and one for another method are refused', async (t) => {
  const { bed, seen } = await divided(t)
  for (const target of ['http://app.localhost/admin', 'http://other.localhost/', '*', 'admin']) {
    assert.match(await untilClosed(bed.raw(request(target))), /^HTTP\/1\.1 400 /, target)
  }
  assert.deepEqual(seen, [])
})

test('O4 requests of one connection are matched one by one', async (t) => {
  const { bed, seen } = await divided(t)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const statuses: number[] = []
  for (const path of ['/', '/admin', '/old/x', '/admin/y', '/z']) statuses.push((await bed.ask({ path, agent })).status)
  assert.deepEqual(statuses, [200, 401, 200, 401, 200])
  assert.deepEqual(seen, ['site /', 'moved /new/x', 'site /z'])
})

test('O4 pipelined requests are matched one by one', async (t) => {
  const { bed, seen } = await divided(t)
  const first = 'GET /a HTTP/1.1\r\nHost: app.localhost\r\n\r\nGET /admin HTTP/1.1\r\nHost: app.localhost\r\n\r\n'
  const text = await untilClosed(bed.raw(first + request('/old')))
  assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 401', 'HTTP/1.1 200'])
  assert.deepEqual(seen, ['site /a', 'moved /new'])
})

const upgrade = (target: string): string =>
  `GET ${target} HTTP/1.1\r\nHost: app.localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`

test('O5 upgrades are matched by path, under the rules of their own route', async (t) => {
  const { bed, seen } = await divided(t)
  assert.match(await untilClosed(bed.raw(upgrade('/old/%61?b'))), /^HTTP\/1\.1 101 /)
  assert.match(await untilClosed(bed.raw(upgrade('/chat'))), /^HTTP\/1\.1 101 /)
  assert.match(await untilClosed(bed.raw(upgrade('/%61dmin/chat'))), /^HTTP\/1\.1 401 /)
  assert.match(await untilClosed(bed.raw(upgrade('/x/..%2fadmin'))), /^HTTP\/1\.1 400 /)
  assert.deepEqual(seen, ['moved /new/a?b', 'site /chat'])
})

test('O6 a host without a root route answers 404 for other paths and upgrades, and no wildcard applies', async (t) => {
  const { bed, seen } = await divided(t, ([site, admin, moved]) =>
    site && admin && moved ? [{ ...site, host: '*.localhost' }, admin, moved] : [],
  )
  assert.match(await untilClosed(bed.raw(request('/x'))), /^HTTP\/1\.1 404 .*this path of app\.localhost/s)
  assert.match(await untilClosed(bed.raw(upgrade('/x'))), /^HTTP\/1\.1 404 /)
  assert.deepEqual(seen, [])
})

test('O7 a path of a host without path routes reaches its application unchanged', async (t) => {
  const { bed, seen } = await divided(t, ([site]) => (site ? [site] : []))
  for (const target of ['/x//y/../%2e%2F%c0%af;z', '/%']) {
    assert.match(await untilClosed(bed.raw(request(target))), /^HTTP\/1\.1 200 /)
  }
  assert.deepEqual(seen, ['site /x//y/../%2e%2F%c0%af;z', 'site /%'])
  assert.match(await untilClosed(bed.raw(request('/a#b'))), /^HTTP\/1\.1 400 /)
})

test('O8 a waiting request is not passed to a service that takes over its path', async (t) => {
  const { bed, seen } = await divided(t, (routes) =>
    routes.map((route) => (route.service === 'moved' ? { ...route, endpoints: [], asleep: true } : route)),
  )
  const waiting = bed.raw(request('/old/x'))
  await until('the request waits', async () => Number((await bed.tell('GET', '/health')).body['held']) === 1)
  const { routes } = (await bed.tell('GET', '/routes')).body
  assert.ok(Array.isArray(routes))
  const left = routes.filter((route: Route) => route.service !== 'moved')
  const closed = once(waiting, 'close')
  let text = ''
  waiting.on('data', (chunk) => {
    text += chunk
  })
  assert.equal((await bed.tell('PUT', '/routes', { version: 2, routes: left })).status, 200)
  await closed
  assert.match(text, /^HTTP\/1\.1 503 /)
  assert.deepEqual(seen, [])
})

/** Makes applications in two environments of one organization and one in another organization. */
async function applications(t: TestContext) {
  const platform = await createPlatform(t)
  const { a, b, call } = platform
  const further = await platform.addObjects(a)
  const make = async (token: string, environmentId: string, name: string, ports: readonly object[]) => {
    const git_repository = { url: 'https://github.com/o/r.git' }
    const body = { name, git_repository, ports }
    const made = await call(token, 'POST', `/environment/${environmentId}/application`, body)
    assert.equal(made.status, 201, made.text)
    return String(Object(made.body)['id'])
  }
  const at = (public_path: string) => [{ internal_port: 80, publicly_accessible: true, public_path }]
  return {
    ...platform,
    own: a.tokens.ADMIN,
    shop: await make(a.tokens.ADMIN, a.objects.environmentId, 'shop', at('/')),
    api: await make(a.tokens.ADMIN, a.objects.environmentId, 'api', at('/api')),
    elsewhere: await make(a.tokens.ADMIN, further.environmentId, 'elsewhere', at('/elsewhere')),
    foreign: await make(b.tokens.ADMIN, b.objects.environmentId, 'foreign', at('/foreign')),
    body: (name: string, ports: readonly object[]) => ({ name, ports }),
    at,
  }
}

test('O9 only services of one environment share a domain, and none takes the path of another', async (t) => {
  const { call, own, b, shop, api, elsewhere, foreign, at } = await applications(t)
  const domain = { domain: 'shop.test', generate_certificate: false }
  const add = (token: string, id: string) => call(token, 'POST', `/application/${id}/customDomain`, domain)
  assert.equal((await add(own, shop)).status, 201)
  assert.equal((await add(own, api)).status, 201)
  assert.equal((await add(own, elsewhere)).status, 409)
  assert.equal((await add(b.tokens.ADMIN, foreign)).status, 409)
  const record = Object((await call(own, 'GET', `/application/${api}`)).body)
  const edited = await call(own, 'PUT', `/application/${api}`, { ...record, ports: at('/') })
  assert.equal(edited.status, 409, edited.text)
  assert.match(edited.text, /leads to the service \\"shop\\" already/)
  const moved = await call(own, 'PUT', `/application/${api}`, { ...record, ports: at('/api/v2/(.*)') })
  assert.equal(moved.status, 200, moved.text)
})

test('O10 links contain the path, and ports return what was sent', async (t) => {
  const { call, own, a, api } = await applications(t)
  const links = Object((await call(own, 'GET', `/application/${api}/link`)).body)['results']
  assert.match(links[0].url, /^http:\/\/api-[0-9a-f]{8}\.localhost:8080\/api$/)
  const all = Object((await call(own, 'GET', `/environment/${a.objects.environmentId}/link`)).body)['results']
  assert.ok(all.some(({ url }: { url: string }) => url === links[0].url))
  const [port] = Object((await call(own, 'GET', `/application/${api}`)).body)['ports']
  assert.equal(port.public_path, '/api')
})

test('O11 invalid paths and rewrites are refused', async (t) => {
  const { call, own, a } = await applications(t)
  const port = { internal_port: 80, publicly_accessible: true }
  const bad = ['api', '/..', '/a/../b', '//', '/%2e', '/x;y', '/`)||Host(victim)', '/a\nb', '/{', '/"', '/*', '/(a+)+']
  for (const [index, path] of bad.entries()) {
    for (const ports of [
      [{ ...port, public_path: path }],
      [{ ...port, public_path: '/x', public_path_rewrite: path }],
    ]) {
      const git_repository = { url: 'https://github.com/o/r.git' }
      const body = { name: `bad-${index}`, git_repository, ports }
      const answer = await call(own, 'POST', `/environment/${a.objects.environmentId}/application`, body)
      assert.equal(answer.status, 400, `${path}: ${answer.text}`)
      assert.match(answer.text, /ports\[0\]\.public_path/)
    }
  }
})
