import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import { connect as connectTcp } from 'node:net'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { platformService, type Route } from '@quayside/contract/routes.ts'
import { issued } from '../test/support/issued.ts'
import { selfSigned, wildcard } from '../test/support/self-signed.ts'
import { until } from '../test/support/until.ts'
import { monotonic } from './clock.ts'
import { limits } from './limits.ts'
import { beds, portOf, type TestBed, testBed } from './test-bed.ts'

const host = 'outside.invalid'
const own = { host, chain: selfSigned.cert, key: selfSigned.key }
const others = { host: '*.apps.far.test', chain: wildcard.cert, key: wildcard.key }
const tls = { from: 'platform', redirects: true } as const

/** A router with HTTPS whose table leads `outside.invalid` to an application. */
async function secureBed(t: TestContext, more: Partial<Route> = {}): Promise<TestBed & { readonly tlsPort: number }> {
  const bed = await testBed(t, { tlsPort: 0 })
  const { tlsPort } = bed.router
  assert.ok(tlsPort)
  const application = await bed.application(({ headers }, response) => response.end(JSON.stringify(headers)))
  await bed.lead([portOf(application)], { host, tls, ...more })
  await serve(bed, [own, others])
  return { ...bed, tlsPort }
}

async function serve({ tell }: TestBed, certificates: readonly object[], challenges: readonly object[] = []) {
  assert.deepEqual(await tell('PUT', '/tls', { certificates, challenges, mark: 'one' }), { status: 200, body: {} })
}

/** Completes a handshake. The connection ends with the test. */
async function shake(t: TestContext, port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket = connect({ host: '127.0.0.1', port, servername: host, rejectUnauthorized: false, ...options }, resolve)
  socket.on('error', reject)
  t.after(() => socket.destroy())
  await promise
  return socket
}

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

function ask(port: number, name: string, header = name): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const where = { host: '127.0.0.1', port, servername: name, rejectUnauthorized: false, agent: false }
  const outgoing = request({ ...where, headers: { host: header } }, (message) => {
    message.setEncoding('utf8')
    let body = ''
    message.on('data', (text) => {
      body += text
    })
    message.on('end', () => resolve({ status: message.statusCode ?? 0, headers: message.headers, body }))
  })
  outgoing.on('error', reject).end()
  return promise
}

test('a handshake with a router that has just started waits for its first certificates', async (t) => {
  if (beds.haproxy) return t.skip('HAProxy completes handshakes with the certificates that it has')
  const bed = await testBed(t, { tlsPort: 0 })
  const { tlsPort } = bed.router
  assert.ok(tlsPort)
  const waiting = shake(t, tlsPort)
  const ended = waiting.then(() => 'over')
  assert.equal((await bed.tell('GET', '/health')).status, 200)
  assert.equal(await Promise.race([ended, 'waits']), 'waits')
  await serve(bed, [own])
  assert.equal((await waiting).authorized, false)
  await assert.rejects(shake(t, tlsPort, { servername: 'unknown.test' }), /unrecognized name|handshake failure/)
})

test('a request over HTTPS reaches the application with the address and protocol of its client', async (t) => {
  const { tlsPort } = await secureBed(t)
  const { status, body } = await ask(tlsPort, host)
  assert.equal(status, 200)
  const seen = JSON.parse(body)
  assert.equal(seen['x-forwarded-proto'], 'https')
  assert.equal(seen['x-forwarded-port'], String(tlsPort))
  assert.equal(seen['x-forwarded-for'], '127.0.0.1')
})

test('a handshake gets the certificate of its server name', async (t) => {
  const { tlsPort } = await secureBed(t)
  const serial = async (servername: string) =>
    (await shake(t, tlsPort, { servername })).getPeerX509Certificate()?.fingerprint256
  assert.equal(await serial(host), new X509Certificate(selfSigned.cert).fingerprint256)
  assert.equal(await serial('OUTSIDE.invalid'), new X509Certificate(selfSigned.cert).fingerprint256)
  assert.equal(await serial('shop.apps.far.test'), new X509Certificate(wildcard.cert).fingerprint256)
})

test('a handshake fails without a server name or for an unknown one, and shows no certificate', async (t) => {
  const { tlsPort } = await secureBed(t)
  for (const servername of [
    '',
    'elsewhere.invalid',
    'apps.far.test',
    'a.b.apps.far.test',
    '..',
    `${'a'.repeat(250)}`,
  ]) {
    await assert.rejects(
      shake(t, tlsPort, { servername }),
      /handshake failure|unrecognized name|ECONNRESET|disconnected/i,
      servername,
    )
  }
})

test('only TLS 1.2 and 1.3 with forward secrecy and authenticated ciphers are accepted', async (t) => {
  const { tlsPort } = await secureBed(t)
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const socket = await shake(t, tlsPort, { minVersion: version, maxVersion: version })
    assert.equal(socket.getProtocol(), version)
  }
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  await assert.rejects(shake(t, tlsPort, old))
  for (const ciphers of ['AES128-SHA', 'AES128-GCM-SHA256', 'ECDHE-ECDSA-AES128-SHA']) {
    await assert.rejects(shake(t, tlsPort, { maxVersion: 'TLSv1.2', ciphers }), ciphers)
  }
})

test('a client resumes its session, and a session of another name is not resumed', async (t) => {
  const { tlsPort } = await secureBed(t)
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const versions = { minVersion: version, maxVersion: version }
    const session = await sessionOf(t, tlsPort, versions)
    assert.equal((await shake(t, tlsPort, { ...versions, session })).isSessionReused(), true, version)
    const other = await shake(t, tlsPort, { ...versions, session, servername: 'shop.apps.far.test' })
    assert.equal(other.isSessionReused(), false, version)
    assert.equal(other.getPeerX509Certificate()?.fingerprint256, new X509Certificate(wildcard.cert).fingerprint256)
  }
})

test('a client resumes its session at the next router, and not after the key of tickets has changed', async (t) => {
  if (beds.haproxy) return t.skip('HAProxy has its own keys of tickets, and outlives the router')
  const both = [await secureBed(t), await secureBed(t)]
  const [first, next] = both
  assert.ok(first && next)
  const key = (byte: number) => Buffer.alloc(48, byte).toString('base64')
  const put = ({ tell }: TestBed, ticketKey: string) =>
    tell('PUT', '/tls', { certificates: [own, others], challenges: [], mark: ticketKey, ticketKey })
  for (const bed of both) await put(bed, key(1))
  const sessions: Buffer[] = []
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const versions = { minVersion: version, maxVersion: version }
    const session = await sessionOf(t, first.tlsPort, versions)
    assert.equal((await shake(t, next.tlsPort, { ...versions, session })).isSessionReused(), true, version)
    sessions.push(session)
  }
  await put(next, key(2))
  for (const session of sessions) {
    assert.equal((await shake(t, next.tlsPort, { session })).isSessionReused(), false)
  }
  assert.equal((await put(next, 'short')).status, 400)
})

/** Returns the session of a first handshake, with which a client resumes it. */
async function sessionOf(t: TestContext, port: number, options: ConnectionOptions): Promise<Buffer> {
  const socket = connect({ host: '127.0.0.1', port, servername: host, rejectUnauthorized: false, ...options })
  t.after(() => socket.destroy())
  return new Promise((resolve, reject) => {
    socket.on('error', reject)
    socket.once('session', resolve)
    socket.once('secureConnect', () => socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`))
  })
}

test('a client cannot renegotiate', async (t) => {
  const { tlsPort } = await secureBed(t)
  const socket = await shake(t, tlsPort, { maxVersion: 'TLSv1.2' })
  socket.removeAllListeners('error')
  // The answer may be overtaken by the end of the connection.
  const failed = new Promise<Error>((resolve) => void socket.on('error', resolve))
  socket.renegotiate({ rejectUnauthorized: false }, (error) => error && socket.destroy(error))
  assert.match(String(await failed), /renegotiation|ECONNRESET/i)
})

test('a request for another host than the one of its connection is answered with 421', async (t) => {
  const { tlsPort } = await secureBed(t)
  for (const other of ['shop.apps.far.test', 'elsewhere.invalid']) {
    assert.equal((await ask(tlsPort, host, other)).status, 421)
  }
  assert.equal((await ask(tlsPort, 'shop.apps.far.test', host)).status, 421)
  assert.equal((await ask(tlsPort, host, `${host}:443`)).status, 200)
})

test('plain HTTP is redirected to HTTPS if the route says so and the host has a certificate', async (t) => {
  const bed = await secureBed(t)
  const { status, headers } = await bed.ask({ host, path: '/a?b=c' })
  assert.deepEqual([status, headers.location], [308, `https://${host}:${bed.tlsPort}/a?b=c`])
  await serve(bed, [])
  assert.equal((await bed.ask({ host })).status, 200)
})

test('a proxy that is trusted and says https is not redirected', async (t) => {
  const bed = await testBed(t, { tlsPort: 0, trusted: ['127.0.0.1'] })
  const application = await bed.application((_request, response) => response.end())
  await bed.lead([portOf(application)], { host, tls })
  await serve(bed, [own])
  assert.equal((await bed.ask({ host, headers: { 'X-Forwarded-Proto': 'https' } })).status, 200)
  assert.equal((await bed.ask({ host, headers: { 'X-Forwarded-Proto': 'http' } })).status, 308)
})

test('a challenge is answered for its host and token only', async (t) => {
  const bed = await secureBed(t)
  await serve(bed, [own], [{ kind: 'http-01', host, token: 'abc', answer: 'abc.thumb' }])
  const path = '/.well-known/acme-challenge/abc'
  assert.equal((await bed.ask({ host, path })).body, 'abc.thumb')
  assert.notEqual((await bed.ask({ host: 'elsewhere.invalid', path })).body, 'abc.thumb')
  assert.equal((await bed.ask({ host, path: `${path}d` })).status, 308)
  await serve(bed, [own])
  assert.equal((await bed.ask({ host, path })).status, 308)
})

test('a handshake of an authority gets the certificate of its challenge, and carries no request', async (t) => {
  const bed = await secureBed(t)
  const answer = issued.cert + issued.key
  const challenge = (name: string) => ({ kind: 'tls-alpn-01', host: name, token: 'abc', answer })
  const ALPNProtocols = ['acme-tls/1']
  const prove = async (servername: string): Promise<TLSSocket> => {
    const socket = await shake(t, bed.tlsPort, { servername, ALPNProtocols })
    assert.equal(socket.alpnProtocol, 'acme-tls/1')
    assert.equal(socket.getPeerX509Certificate()?.fingerprint256, new X509Certificate(issued.cert).fingerprint256)
    return socket
  }
  await serve(bed, [own], [challenge('new.example.org')])
  const first = await prove('new.example.org')
  // HAProxy waits for a request, as long as for every first one.
  if (!beds.haproxy) await until('the connection is closed', () => first.closed)
  // HAProxy prefers the certificate of a host, and refuses the broken one.
  const broken = { ...own, host: 'broken.example.org', key: 'none' }
  const hosts = [host, 'a.apps.far.test', broken.host, 'new.example.org']
  await serve(bed, [own, others, broken], hosts.map(challenge))
  for (const one of hosts) {
    const socket = await prove(one)
    await until('the connection is closed', () => socket.closed)
  }
  const usual = await shake(t, bed.tlsPort, { ALPNProtocols: ['http/1.1'] })
  assert.equal(usual.getPeerX509Certificate()?.fingerprint256, new X509Certificate(selfSigned.cert).fingerprint256)
})

test('a handshake of an authority about another name, beside other protocols or too old is refused', async (t) => {
  const bed = await secureBed(t)
  const answer = issued.cert + issued.key
  await serve(bed, [own, others], [{ kind: 'tls-alpn-01', host, token: 'abc', answer }])
  const acme = ['acme-tls/1']
  await assert.rejects(shake(t, bed.tlsPort, { servername: 'shop.apps.far.test', ALPNProtocols: acme }))
  await assert.rejects(shake(t, bed.tlsPort, { servername: `www.${host}`, ALPNProtocols: acme }))
  await assert.rejects(shake(t, bed.tlsPort, { servername: '', ALPNProtocols: acme }))
  await assert.rejects(shake(t, bed.tlsPort, { ALPNProtocols: [...acme, 'http/1.1'] }))
  await assert.rejects(shake(t, bed.tlsPort, { ALPNProtocols: acme, maxVersion: 'TLSv1.2' }))
  await serve(bed, [own])
  // HAProxy agrees on no protocol instead.
  if (beds.haproxy) assert.equal((await shake(t, bed.tlsPort, { ALPNProtocols: acme })).alpnProtocol, false)
  else await assert.rejects(shake(t, bed.tlsPort, { ALPNProtocols: acme }))
})

test('requests for the platform show the secret of the router, and those for others do not', async (t) => {
  const bed = await secureBed(t, { service: platformService })
  const { tlsPort, tell } = bed
  const door = { service: platformService, secret: 'hidden' }
  const put = (more: object) =>
    tell('PUT', '/tls', { certificates: [own], challenges: [], mark: 'two', door: { ...door, ...more } })
  await put({})
  assert.equal(JSON.parse((await ask(tlsPort, host)).body)['x-quayside-door'], 'hidden')
  await put({ service: 'other' })
  const forged = await bed.ask({ host, headers: { 'X-Quayside-Door': 'guess' } })
  assert.equal(forged.status, 308)
  assert.equal(JSON.parse((await ask(tlsPort, host)).body)['x-quayside-door'], undefined)
  assert.ok(!(await readFile(bed.state, 'utf8')).includes('hidden'))
})

test('a certificate is exchanged without ending connections', async (t) => {
  const bed = await secureBed(t)
  const before = await shake(t, bed.tlsPort)
  await serve(bed, [{ ...own, chain: wildcard.cert, key: wildcard.key }])
  const after = await shake(t, bed.tlsPort)
  assert.equal(after.getPeerX509Certificate()?.fingerprint256, new X509Certificate(wildcard.cert).fingerprint256)
  const answered = new Promise<string>((resolve) => void before.once('data', (chunk) => resolve(String(chunk))))
  before.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  assert.match(await answered, /^HTTP\/1\.1 200 /)
})

test('private keys are neither stored nor shown', async (t) => {
  const bed = await secureBed(t)
  await bed.lead([], { host, tls })
  const secret = selfSigned.key.split('\n')[1] ?? ''
  for (const path of ['/routes', '/health', '/activity']) {
    assert.ok(!JSON.stringify((await bed.tell('GET', path)).body).includes(secret))
  }
  assert.ok(!(await readFile(bed.state, 'utf8')).includes(secret))
})

test('a slow handshake ends in time, however its bytes are spread', { timeout: 60_000 }, async (t) => {
  if (beds.haproxy) return t.skip('HAProxy ends a handshake after a minute')
  const { tlsPort } = await secureBed(t)
  const socket = connectTcp(tlsPort, '127.0.0.1')
  t.after(() => socket.destroy())
  const startedAt = monotonic()
  // The beginning of a record of 500 bytes.
  socket.write(Buffer.from([22, 3, 1, 1, 244, 1, 0, 1, 240, 3, 3]))
  const drip = setInterval(() => socket.write(Buffer.from([0])), 200)
  t.after(() => clearInterval(drip))
  socket.on('error', () => {})
  await until('the connection is closed', () => socket.closed, { limitMs: 30_000 })
  assert.ok(monotonic() - startedAt < limits.handshakeMs * 1.5)
})

test('early data, which others could send again, is not accepted', async (t) => {
  const { tlsPort } = await secureBed(t)
  const where = ['s_client', '-connect', `127.0.0.1:${tlsPort}`, '-servername', host, '-tls1_3']
  const client = spawn('openssl', [...where, '-alpn', 'http/1.1'])
  t.after(() => client.kill('SIGKILL'))
  client.stdin.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  const shown = await text(client.stdout)
  assert.match(shown, /HTTP\/1\.1 200/)
  assert.match(shown, /Max Early Data: 0/)
  assert.doesNotMatch(shown, /Max Early Data: [1-9]/)
})

test('the control server confirms the mark of its certificates', async (t) => {
  const bed = await testBed(t, { tlsPort: 0 })
  const confirm = async (mark: string) => (await bed.tell('POST', '/tls', { mark })).status
  assert.equal(await confirm('one'), 409)
  await serve(bed, [own])
  assert.equal(await confirm('one'), 200)
  assert.equal(await confirm('two'), 409)
})

test('headers of the rules of a route, such as HSTS, are on answers over HTTPS and not on redirects', async (t) => {
  const bed = await secureBed(t)
  const application = await bed.application((_request, response) => response.end())
  const headers = { 'Strict-Transport-Security': 'max-age=31536000' }
  await bed.lead([portOf(application)], { host, tls, rules: { headers } })
  assert.equal((await ask(bed.tlsPort, host)).headers['strict-transport-security'], 'max-age=31536000')
  const redirect = await bed.ask({ host })
  assert.deepEqual([redirect.status, redirect.headers['strict-transport-security']], [308, undefined])
})
