import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { selfSigned } from '../test/support/self-signed.ts'
import { until } from '../test/support/until.ts'
import { beds, portOf, type TestBed, testBed } from './test-bed.ts'

// A load balancer or a port mapping in front of a router: clients use other ports than the ones on
// which it listens.

const host = 'outside.invalid'
const publicPorts = { publicPort: 80, publicTlsPort: 8444 }
const tls = { from: 'platform', redirects: false } as const

async function mappedBed(t: TestContext, redirects = false): Promise<TestBed & { readonly tlsPort: number }> {
  const bed = await testBed(t, { tlsPort: 0, ...publicPorts })
  const { tlsPort } = bed.router
  assert.ok(tlsPort)
  const application = await bed.application(({ headers }, response) => response.end(JSON.stringify(headers)))
  await bed.lead([portOf(application)], { host, tls: { ...tls, redirects } })
  const certificates = [{ host, chain: selfSigned.cert, key: selfSigned.key }]
  assert.equal((await bed.tell('PUT', '/tls', { certificates, challenges: [], mark: 'one' })).status, 200)
  return { ...bed, tlsPort }
}

/** Sends a request over HTTPS with this Host header. */
async function askSecurely(port: number, header: string): Promise<{ status: number; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>()
  const where = { host: '127.0.0.1', port, servername: host, rejectUnauthorized: false, agent: false }
  const outgoing = request({ ...where, headers: { host: header } }, (message) => {
    text(message).then((body) => resolve({ status: message.statusCode ?? 0, body }), reject)
  })
  outgoing.on('error', reject).end()
  return promise
}

test('the router listens at its own ports and reports both', async (t) => {
  const { router, tell, tlsPort } = await mappedBed(t)
  assert.ok(router.port > 1024)
  const { body } = await tell('GET', '/health')
  assert.deepEqual(
    [body['port'], body['tlsPort'], body['publicPort'], body['publicTlsPort']],
    [router.port, tlsPort, 80, 8444],
  )
})

test('applications learn the ports that clients use', async (t) => {
  const { ask, tlsPort } = await mappedBed(t)
  const portIn = (body: string): string => {
    const headers: IncomingHttpHeaders = JSON.parse(body)
    return String(headers['x-forwarded-port'])
  }
  for (const header of [host, `${host}:80`, `${host}:9000`]) {
    const { status, body } = await ask({ host: header })
    assert.deepEqual([status, portIn(body)], [200, '80'], header)
  }
  for (const header of [`${host}:8444`, host]) {
    const { status, body } = await askSecurely(tlsPort, header)
    assert.deepEqual([status, portIn(body)], [200, '8444'], header)
  }
})

test('a redirect to HTTPS leads to the port that clients use', async (t) => {
  const { ask } = await mappedBed(t, true)
  const { status, headers } = await ask({ host, path: '/a?b=c' })
  assert.deepEqual([status, headers.location], [308, `https://${host}:8444/a?b=c`])
})

test('HAProxy carries requests with the port that clients use', async (t) => {
  if (!beds.haproxy) return t.skip('the router serves clients itself')
  const { tell, tlsPort } = await mappedBed(t)
  await until('HAProxy carries a request', async () => {
    const before = Object((await tell('GET', '/health')).body['counts']).requests
    await askSecurely(tlsPort, `${host}:8444`)
    return Object((await tell('GET', '/health')).body['counts']).requests === before
  })
})
