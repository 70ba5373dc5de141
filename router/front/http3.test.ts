import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:http2'
import test from 'node:test'
import { connect as connectTls } from 'node:tls'
import { usualConnections } from '@quayside/contract/connection-shares.ts'
import { findFreePort } from '../../test/support/free-port.ts'
import { haproxy, missingHaproxy } from '../../test/support/haproxy.ts'
import { selfSigned, wildcard } from '../../test/support/self-signed.ts'
import { until } from '../../test/support/until.ts'
import { beds, portOf } from '../test-bed.ts'
import { certificates, echo, host, http3Bed, missingHttp3Front, seenIn, tls } from './test-http3.ts'

beds.haproxy = haproxy
const skip = (await missingHaproxy()) ?? (await missingHttp3Front(haproxy)) ?? false

test('HAProxy carries plain requests over HTTP/3', { skip }, async (t) => {
  const { client, tlsPort, passedOn } = await http3Bed(t)
  const { status, headers, body } = await client.ask({
    path: '/a?b=1',
    headers: { 'x-forwarded-for': '9.9.9.9', 'x-own': ['a', 'b'], cookie: ['c=1', 'd=2'] },
  })
  assert.equal(status, 200, body)
  const { method, url, headers: got } = seenIn(body)
  assert.deepEqual([method, url, got.host], ['GET', '/a?b=1', `${host}:${tlsPort}`])
  const named = [got['x-forwarded-proto'], got['x-forwarded-for'], got['x-real-ip'], got['x-forwarded-port']]
  assert.deepEqual(named, ['https', '127.0.0.1', '127.0.0.1', String(tlsPort)])
  assert.deepEqual([got['x-own'], got.cookie], ['a, b', 'c=1; d=2'])
  assert.equal(headers['alt-svc'], `h3=":${tlsPort}"; ma=86400`)
  const posted = await client.ask({ method: 'POST', body: 'hello' })
  assert.deepEqual([posted.status, seenIn(posted.body).length], [200, 5])
  assert.equal(await passedOn(), 0)
})

test('the router gets the other requests over HTTP/3, as requests over HTTPS', { skip }, async (t) => {
  const { client, passedOn } = await http3Bed(t)
  const large = await client.ask({ method: 'PUT', body: Buffer.alloc(100_000, 'x') })
  assert.equal(large.status, 200, large.body)
  assert.deepEqual([seenIn(large.body).length, seenIn(large.body).headers['x-forwarded-proto']], [100_000, 'https'])
  const unknown = await client.ask({ method: 'POST', body: 'hello', length: false })
  assert.deepEqual([unknown.status, seenIn(unknown.body).length], [200, 5])
  const trailed = await client.ask({
    method: 'POST',
    body: 'a',
    length: false,
    headers: { trailer: 'x-sum' },
    trailers: { 'x-sum': '7' },
  })
  assert.deepEqual([trailed.status, seenIn(trailed.body).trailers['x-sum']], [200, '7'])
  const question = await client.ask({ path: '/.well-known/acme-challenge/x' })
  assert.deepEqual([question.status, seenIn(question.body).url], [200, '/.well-known/acme-challenge/x'])
  assert.equal(await passedOn(), 4)
})

test('the rules of a route hold over HTTP/3', { skip }, async (t) => {
  const { client, passedOn } = await http3Bed(t, { rules: { deny: ['127.0.0.0/8'] } })
  assert.equal((await client.ask()).status, 403)
  assert.equal(await passedOn(), 1)
})

test('responses over HTTPS tell of HTTP/3, and responses over HTTP do not', { skip }, async (t) => {
  const { ask, tlsPort } = await http3Bed(t, { tls: { from: 'platform', redirects: false } })
  assert.equal((await ask({ host })).headers['alt-svc'], undefined)
  const session = connect(`https://127.0.0.1:${tlsPort}`, { servername: host, ca: wildcard.cert })
  t.after(() => session.destroy())
  const stream = session.request({ ':authority': host, ':path': '/' })
  const [headers] = await once(stream.resume(), 'response')
  assert.equal(headers['alt-svc'], `h3=":${tlsPort}"; ma=86400`)
})

test('responses name the port of HTTP/3 that clients see', { skip }, async (t) => {
  const { client } = await http3Bed(t, {}, { publicTlsPort: 443 })
  assert.equal((await client.ask({ authority: host })).headers['alt-svc'], 'h3=":443"; ma=86400')
})

test('the streams and the connections of one client share its limits', { skip }, async (t) => {
  const perClient = 20
  const waiting: ServerResponse[] = []
  const connections = { ...usualConnections, perClient }
  const { client } = await http3Bed(t, {}, { connections }, (request, response) => {
    if (request.url === '/wait') waiting.push(response)
    else response.end()
  })
  const refused: number[] = []
  const answers = Array.from({ length: perClient + 5 }, async () => {
    const { status } = await client.ask({ path: '/wait' })
    if (status === 429) refused.push(status)
    return status
  })
  await until('all others wait', () => waiting.length === perClient && refused.length === 5)
  for (const response of waiting) response.end()
  assert.equal((await Promise.all(answers)).filter((status) => status === 200).length, perClient)
  const many = perClient + 5
  const { answered, failed } = await client.load({ count: many, open: many, connections: many })
  assert.equal(Number(answered['200']) + failed.length, many)
  assert.ok(failed.length >= 5, `${failed.length} of ${many} connections were refused`)
})

test('early data is not accepted', { skip }, async (t) => {
  const { client } = await http3Bed(t)
  await client.ask()
  assert.deepEqual(await client.connect(), { alpn: 'h3', resumed: true, used0rtt: false })
})

test('a client learns at once that its HAProxy was killed, and the next one answers', { skip }, async (t) => {
  const { client, tell } = await http3Bed(t)
  assert.equal((await client.ask()).status, 200)
  const before = (await tell('GET', '/health')).body['haproxyPid']
  process.kill(Number(before), 'SIGKILL')
  await until('another one serves', async () => {
    const { haproxyPid } = (await tell('GET', '/health')).body
    return haproxyPid !== undefined && haproxyPid !== before
  })
  // The next HAProxy does not know the old connection, and says so.
  const failures: string[] = []
  const isAnswered = (): Promise<boolean> =>
    client.ask().then(
      ({ status }) => status === 200,
      (error: unknown) => failures.push(String(error)) === 0,
    )
  await until('a request is answered', isAnswered, { limitMs: 10_000 })
  for (const failure of failures) assert.match(failure, /stateless reset|refused/)
})

test('no request over HTTP/3 fails while endpoints change', { skip }, async (t) => {
  const { client, application, lead } = await http3Bed(t)
  const apps = [await application(echo), await application(echo)]
  let isOver = false
  const changes = (async () => {
    for (let turn = 0; !isOver; turn++) await lead([portOf(apps[turn % 2] ?? assert.fail())], { host, tls })
    return isOver
  })()
  const { answered, failed } = await client.load({ count: 3_000, open: 16, connections: 4 })
  isOver = true
  await changes
  assert.deepEqual([answered, failed], [{ 200: 3_000 }, []])
})

test('interim responses arrive over HTTP/3', { skip }, async (t) => {
  const { client } = await http3Bed(t, {}, {}, (request, response) => {
    response.writeEarlyHints({ link: '</a.css>; rel=preload' })
    request.resume().once('end', () => response.end('whole'))
  })
  const { status, body, early } = await client.ask()
  assert.deepEqual([status, body, early], [200, 'whole', [103]])
  const expecting = await client.ask({ method: 'POST', body: 'a', headers: { expect: '100-continue' } })
  assert.deepEqual([expecting.status, expecting.body], [200, 'whole'])
})

test('HTTP/3 continues while the router has the port of HTTPS', { skip }, async (t) => {
  const { client, tell, tlsPort } = await http3Bed(t)
  const challenges = [{ kind: 'tls-alpn-01', host, token: 'abc', answer: selfSigned.cert + selfSigned.key }]
  assert.equal((await tell('PUT', '/tls', { certificates, challenges, mark: 'two' })).status, 200)
  const { promise: agreed, resolve } = Promise.withResolvers<unknown>()
  const asker = connectTls({
    host: '127.0.0.1',
    port: tlsPort,
    servername: host,
    ALPNProtocols: ['acme-tls/1'],
    rejectUnauthorized: false,
  })
  asker.once('secureConnect', () => resolve(asker.alpnProtocol)).once('error', resolve)
  assert.equal(await agreed, 'acme-tls/1')
  asker.destroy()
  assert.equal((await client.ask()).status, 200)
  await client.connect()
  assert.equal((await client.ask()).status, 200)
})

test('HAProxy serves HTTPS alone if another program has the UDP port', { skip }, async (t) => {
  const other = createSocket('udp4')
  t.after(() => other.close())
  const tlsPort = await findFreePort()
  await new Promise<void>((resolve) => other.bind({ address: '127.0.0.1', port: tlsPort }, resolve))
  const { tell } = await http3Bed(t, {}, { tlsPort })
  const { haproxyPid, whyNoHttp3 } = (await tell('GET', '/health')).body
  assert.deepEqual([typeof haproxyPid, whyNoHttp3], ['number', `another program uses UDP port ${tlsPort}`])
})

test('HTTP/3 is off behind proxies, and unless it is wanted', { skip }, async (t) => {
  const reason = async (options: Parameters<typeof http3Bed>[2]): Promise<unknown> => {
    const { tell } = await http3Bed(t, {}, options)
    return (await tell('GET', '/health')).body['whyNoHttp3']
  }
  assert.equal(await reason({ trusted: ['192.0.2.0/24'] }), 'clients come through proxies')
  assert.equal(await reason({ proxies: ['192.0.2.0/24'] }), 'clients come through proxies')
  assert.equal(await reason({ http3: false }), 'QUAYSIDE_HTTP3 is not on')
})
