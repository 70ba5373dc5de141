import assert from 'node:assert/strict'
import { connect, type OutgoingHttpHeaders } from 'node:http2'
import type { Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import { haproxy, isHaproxySince, missingHaproxy } from '../../test/support/haproxy.ts'
import { selfSigned } from '../../test/support/self-signed.ts'
import { beds, portOf, type TestBed, testBed, textOf } from '../test-bed.ts'

const skip = (await missingHaproxy()) ?? false
/** Since 3.0, HAProxy refuses more of these requests itself. */
const refusesMore = skip === false && (await isHaproxySince(3))
const secureHost = 'outside.invalid'
const rules = { maxBodyBytes: 10_000, readTimeoutMs: 60_000, sendTimeoutMs: 60_000, clientTimeoutMs: 60_000 }

interface Bed {
  readonly bed: TestBed
  /** Returns how many requests came to the router since the last call. */
  passedOn(): Promise<number>
}

/** A router behind HAProxy with an application that answers with the request as it arrived. */
async function echoing(t: TestContext, tlsPort?: number): Promise<Bed> {
  beds.haproxy = haproxy
  const bed = await testBed(t, tlsPort === undefined ? {} : { tlsPort })
  const app = await bed.application((request, response) => {
    const { method, url, headers } = request
    textOf(request).then(
      ({ length }) => response.end(JSON.stringify({ method, url, headers, length })),
      () => response.destroy(),
    )
  })
  const host = tlsPort === undefined ? 'app.localhost' : secureHost
  await bed.lead([portOf(app)], {
    host,
    rules,
    ...(tlsPort !== undefined && { tls: { from: 'platform', redirects: true } }),
  })
  let before = 0
  return {
    bed,
    passedOn: async () => {
      const { counts } = JSON.parse(JSON.stringify((await bed.tell('GET', '/health')).body))
      const added = counts.requests - before
      before = counts.requests
      return added
    },
  }
}

/** Requests of HTTP/1.1: how many of them come to the router, and the status of the answer. */
const heads: Readonly<Record<string, readonly [head: string, passed: number, status: number]>> = {
  'a plain request': ['GET / HTTP/1.1\r\nHost: app.localhost', 0, 200],
  'a browser': [
    'GET /?a=b HTTP/1.1\r\nHost: app.localhost\r\nConnection: keep-alive\r\nAuthorization: Basic YQ==',
    0,
    200,
  ],
  'a body': ['POST / HTTP/1.1\r\nHost: app.localhost\r\nContent-Length: 0', 0, 200],
  'a header that is dropped': ['GET / HTTP/1.1\r\nHost: app.localhost\r\nTE: trailers\r\nProxy: http://a', 0, 200],
  'two equal hosts': ['GET / HTTP/1.1\r\nHost: app.localhost\r\nHost: app.localhost', 0, 200],
  'two hosts': ['GET / HTTP/1.1\r\nHost: app.localhost\r\nHost: b.localhost', 0, 400],
  'a list of hosts': ['GET / HTTP/1.1\r\nHost: b.localhost, app.localhost', 1, 400],
  'the same with the own host first': ['GET / HTTP/1.1\r\nHost: app.localhost, b.localhost', 1, 400],
  'an absolute target': ['GET http://app.localhost/ HTTP/1.1\r\nHost: app.localhost', 1, 400],
  'an absolute target of an unknown scheme': ['GET x://app.localhost/ HTTP/1.1\r\nHost: app.localhost', 1, 400],
  'a fragment after a path': ['GET /a#b HTTP/1.1\r\nHost: app.localhost', 0, 400],
  'all of a server': ['OPTIONS * HTTP/1.1\r\nHost: app.localhost', 1, 400],
  'two passwords': ['GET / HTTP/1.1\r\nHost: app.localhost\r\nAuthorization: a\r\nauthorization: b', 1, 400],
  'a second Connection': ['GET / HTTP/1.1\r\nHost: app.localhost\r\nConnection: close\r\nConnection: X-Gone', 1, 200],
  'the same in turn': ['GET / HTTP/1.1\r\nHost: app.localhost\r\nConnection: X-Gone\r\nConnection: close', 1, 200],
  'an expectation without a body': ['GET / HTTP/1.1\r\nHost: app.localhost\r\nExpect: 100-continue', 1, 200],
  'a question of an authority': ['GET /.well-known/acme-challenge/x HTTP/1.1\r\nHost: app.localhost', 1, 200],
}

/** Returns the first final response of a connection, which has a declared length. */
async function answerOf(socket: Socket): Promise<string> {
  let text = ''
  for await (const chunk of socket) {
    text = (text + String(chunk)).replace('HTTP/1.1 100 Continue\r\n\r\n', '')
    const length = /\r\ncontent-length: (\d+)\r\n/i.exec(text)?.[1]
    if (length !== undefined && text.length >= text.indexOf('\r\n\r\n') + 4 + Number(length)) break
  }
  return text
}

test('each request over HTTP/1.1 is carried by HAProxy only if it has one reading', { skip }, async (t) => {
  const { bed, passedOn } = await echoing(t)
  for (const [name, [head, passed, status]] of Object.entries(heads)) {
    const socket = bed.raw(`${head}\r\nX-Gone: secret\r\nX_Forwarded_For: 9.9.9.9\r\nX-Forwarded-For: 9.9.9.9\r\n\r\n`)
    const text = await answerOf(socket)
    assert.ok(text.startsWith(`HTTP/1.1 ${status} `), `${name}: ${text}`)
    const count = await passedOn()
    assert.ok(count === passed || (refusesMore && status === 400 && count === 0), `${name}: ${count}`)
    assert.ok(!text.includes('9.9.9.9'), `${name}: ${text}`)
    assert.equal(text.includes('secret'), status === 200 && !head.includes('X-Gone'), `${name}: ${text}`)
  }
})

test('a request over HTTP/2 with a body of unknown length comes to the router', { skip }, async (t) => {
  const { bed, passedOn } = await echoing(t, 0)
  const certificates = [{ host: secureHost, chain: selfSigned.cert, key: selfSigned.key }]
  assert.equal((await bed.tell('PUT', '/tls', { certificates, challenges: [], mark: 'a' })).status, 200)
  const session = connect(`https://127.0.0.1:${bed.router.tlsPort}`, { servername: secureHost, ca: selfSigned.cert })
  t.after(() => session.destroy())
  session.on('error', () => {})
  const ask = async (headers: OutgoingHttpHeaders, body?: string): Promise<number> => {
    const stream = session.request(
      { ':authority': secureHost, ':path': '/', ...headers },
      { endStream: body === undefined },
    )
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    stream.on('response', (answer) => resolve(Number(answer[':status']))).on('error', reject)
    stream.resume()
    if (body !== undefined) stream.end(body)
    return promise
  }
  assert.deepEqual([await ask({}), await passedOn()], [200, 0])
  for (const method of ['GET', 'OPTIONS', 'POST', 'PUT']) {
    assert.deepEqual([await ask({ ':method': method }, 'x'.repeat(10_001)), await passedOn()], [413, 1], method)
    assert.deepEqual([await ask({ ':method': method }, 'x'), await passedOn()], [200, 1], method)
  }
  assert.deepEqual([await ask({ ':method': 'POST', 'content-length': '1' }, 'x'), await passedOn()], [200, 0])
  assert.deepEqual(
    [await ask({ ':method': 'POST', 'content-length': '10001' }, 'x'.repeat(10_001)), await passedOn()],
    [413, 1],
  )
  assert.deepEqual([await ask({ ':method': 'POST' }), await passedOn()], [200, 0])
  assert.deepEqual([await ask({ te: 'trailers' }), await passedOn()], [200, 0])
  assert.deepEqual([await ask({ ':path': '/.well-known/acme-challenge/x' }), await passedOn()], [200, 1])
})
