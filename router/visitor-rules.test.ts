import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import { test } from 'node:test'
import { compileRedirects } from '@quayside/contract/redirects.ts'
import type { RouteRules } from '@quayside/contract/routes.ts'
import { RequestLimits } from './request-limits.ts'
import { headOf, portOf, testBed, untilClosed } from './test-bed.ts'

// Rules about visitors that only the platform's own router has.

async function bedWith(t: Parameters<typeof testBed>[0], rules: RouteRules) {
  const bed = await testBed(t, { trusted: ['127.0.0.1/32'] })
  const seen: IncomingHttpHeaders[] = []
  const server = await bed.application((request, response) => {
    seen.push(request.headers)
    response.end('ok')
  })
  await bed.lead([portOf(server)], { rules })
  return { ...bed, seen }
}
const from = (address: string) => ({ 'x-forwarded-for': address })
// HAProxy accepts only whole handshakes (RFC 6455, 1.3).
const upgrade =
  'GET / HTTP/1.1\r\nHost: app.localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'

test('a client with too many requests gets 429 and the time of the next one, others do not', async (t) => {
  const { ask, raw } = await bedWith(t, { requestsPerMinute: 3 })
  for (const status of [200, 200, 200, 429]) assert.equal((await ask({ headers: from('192.0.2.1') })).status, status)
  const late = await ask({ headers: from('192.0.2.1') })
  assert.match(late.body, /at most 3 requests a minute/)
  assert.ok(Number(late.headers['retry-after']) >= 1 && Number(late.headers['retry-after']) <= 20)
  assert.match(await headOf(raw(`${upgrade}X-Forwarded-For: 192.0.2.1\r\n\r\n`)), /^HTTP\/1.1 429 /)
  assert.equal((await ask({ headers: from('192.0.2.2') })).status, 200)
  // One network of IPv6 is one client.
  for (const last of [1, 2, 3]) assert.equal((await ask({ headers: from(`2001:db8::${last}`) })).status, 200)
  assert.equal((await ask({ headers: from('2001:db8::4') })).status, 429)
})

test('requests come back evenly, and few clients are remembered', () => {
  const limits = new RequestLimits(2)
  const take = (client: string, now: number, owner = 'o') => limits.take({ owner, client }, 2, now)
  assert.deepEqual([take('a', 0), take('a', 0), take('a', 0)], [0, 0, 30_000])
  assert.equal(take('a', 29_999) > 0, true)
  assert.equal(take('a', 30_001), 0)
  // Time that nobody used does not add up beyond a minute's number.
  for (const expected of [true, true, false]) assert.equal(take('a', 1e9) === 0, expected)
  for (const client of 'bcdefg') take(client, 1e9, 'another')
  assert.equal(take('a', 1e9) > 0, true, 'clients of another owner take no room')
  take('b', 1e9)
  take('c', 1e9)
  assert.equal(take('a', 1e9), 0)
})

test('a service in maintenance answers 503 with its message, except to some networks', async (t) => {
  const { ask, raw, seen } = await bedWith(t, {
    maintenance: { message: 'We are back at <b>noon</b>.', except: ['10.0.0.0/8'] },
  })
  const page = await ask({ headers: { ...from('192.0.2.1'), accept: 'text/html' } })
  assert.equal(page.status, 503)
  assert.match(page.body, /We are back at &#60;b&#62;noon/)
  assert.equal(page.headers['retry-after'], '60')
  assert.match(await headOf(raw(`${upgrade}X-Forwarded-For: 192.0.2.1\r\n\r\n`)), /^HTTP\/1.1 503 /)
  assert.equal(seen.length, 0)
  assert.equal((await ask({ headers: from('10.1.2.3') })).status, 200)
})

test('paths are redirected with their query, to paths and addresses', async (t) => {
  const { ask, seen } = await bedWith(t, {
    redirects: [
      { from: '/old', to: '/new', status: 301 },
      { from: '/blog/*', to: 'https://blog.example.org/*', status: 308 },
      { from: '/gone/*', to: '/?from=gone', status: 302 },
    ],
  })
  const location = async (path: string) => {
    const { status, headers } = await ask({ path })
    return [status, headers['location']]
  }
  assert.deepEqual(await location('/old?a=b'), [301, '/new?a=b'])
  assert.deepEqual(await location('/blog'), [308, 'https://blog.example.org/'])
  assert.deepEqual(await location('/blog/2026/one?x'), [308, 'https://blog.example.org/2026/one?x'])
  assert.deepEqual(await location('/gone/x?y=1'), [302, '/?from=gone'])
  assert.equal(seen.length, 0)
  for (const path of ['/older', '/old/more', '/blogs', '/']) assert.equal((await ask({ path })).status, 200, path)
})

test('a query is added before the fragment of a redirect', async (t) => {
  const { ask } = await bedWith(t, {
    redirects: [
      { from: '/faq', to: '/help#faq', status: 308 },
      { from: '/app/*', to: 'https://app.example.org/#/*', status: 308 },
      { from: '/one', to: '/two?a=1#part', status: 308 },
    ],
  })
  const location = async (path: string) => (await ask({ path })).headers['location']
  assert.equal(await location('/faq?q=1'), '/help?q=1#faq')
  assert.equal(await location('/faq'), '/help#faq')
  assert.equal(await location('/app/x?q=1'), 'https://app.example.org/?q=1#/x')
  assert.equal(await location('/one?q=1'), '/two?a=1#part')
})

test('a redirect never leads to a host that the path names', () => {
  const redirect = compileRedirects([{ from: '/old/*', to: '/*', status: 308 }])
  for (const rest of ['/evil.test', '//evil.test', '/\\evil.test', '\\/evil.test', '\\\\evil.test']) {
    assert.equal(redirect({ origin: 'http://a.test', url: `/old/${rest}` })?.location, '/evil.test', rest)
  }
})

test('a redirect applies to every spelling of its path', async (t) => {
  const { raw, seen } = await bedWith(t, {
    redirects: [
      { from: '/admin/*', to: '/new/*', status: 308 },
      { from: '/caf%c3%a9', to: '/tea', status: 308 },
    ],
  })
  const answer = (path: string) =>
    untilClosed(raw(`GET ${path} HTTP/1.1\r\nHost: app.localhost\r\nConnection: close\r\n\r\n`))
  for (const path of [
    ...['/admin/a', '/%61dmin/a', '//admin/a', '/x/../admin/a', '/x/%2e%2E/admin/a', '/./admin/a', '/%2fadmin/a'],
    ...['/admin%2Fa', '/admin;v=1/a', '/x%5c..%5cadmin/a', '/%2E/admin//a', '/%41/..;/admin/a'],
  ]) {
    assert.match(await answer(path), /^HTTP\/1.1 308 .*\r\nLocation: \/new\/a\r\n/is, path)
  }
  for (const path of ['/caf%C3%A9', '/caf%c3%a9', '/c%61f%C3%A9'])
    assert.match(await answer(path), /Location: \/tea\r/i)
  // The rest keeps the escapes that the rule does not read.
  assert.match(await answer('/admin/a%2Fb'), /Location: \/new\/a%2Fb\r/i)
  assert.equal(seen.length, 0)
  for (const path of ['/%41dmin/a', '/administrator', '/x/admin']) {
    assert.match(await answer(path), /^HTTP\/1.1 200 /, path)
  }
})

test('a redirect to the own address of a request does not apply', async (t) => {
  const { ask } = await bedWith(t, {
    redirects: [
      { from: '/start', to: '/home', status: 302 },
      { from: '/*', to: 'https://app.localhost/*', status: 308 },
    ],
  })
  const location = async (path: string, headers = {}) => (await ask({ path, headers })).headers['location']
  const secure = { 'x-forwarded-proto': 'https' }
  assert.equal(await location('/a?b=1'), 'https://app.localhost/a?b=1')
  assert.equal(await location('/a?b=1', secure), undefined)
  assert.equal(await location('/start', secure), '/home')
  const { ask: askOne } = await bedWith(t, { redirects: [{ from: '/*', to: '/closed', status: 302 }] })
  assert.equal((await askOne({ path: '/a' })).headers['location'], '/closed')
  assert.equal((await askOne({ path: '/closed' })).body, 'ok')
})

test('headers of requests are replaced for the endpoint', async (t) => {
  const { ask, seen, raw } = await bedWith(t, { requestHeaders: { 'X-Zone': 'blue', 'User-Agent': 'door' } })
  await ask({ headers: { 'x-zone': 'red', 'X-Other': '1' } })
  const [{ 'x-zone': zone, 'user-agent': agent, 'x-other': other } = {}] = seen
  assert.deepEqual([zone, agent, other], ['blue', 'door', '1'])
  await headOf(raw(`${upgrade}X-Zone: red\r\nX-ZONE: green\r\n\r\n`))
  assert.equal(seen.at(-1)?.['x-zone'], 'blue')
})

test('a table with invalid rules about visitors is rejected', async (t) => {
  const { tell } = await testBed(t)
  for (const rules of [
    { requestsPerMinute: -1 },
    { maintenance: { message: 'a\r\nb' } },
    { maintenance: { message: 'a', except: ['nowhere'] } },
    { redirects: [] },
    { redirects: [{ from: '/a', to: '/b\r\nX: y', status: 308 }] },
    { redirects: [{ from: '/a', to: '/b', status: 200 }] },
    { requestHeaders: { 'a b': 'x' } },
  ]) {
    const routes = [{ host: 'app.localhost', service: 's', name: 'shop', endpoints: [], rules }]
    assert.equal((await tell('PUT', '/routes', { version: 9, routes })).status, 400, JSON.stringify(rules))
  }
})
