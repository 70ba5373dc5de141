import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { test } from 'node:test'
import type { RouteRules } from '@quayside/contract/routes.ts'
import { until } from '../test/support/until.ts'
import { sleep } from './clock.ts'
import { beds, headOf, portOf, testBed, untilClosed } from './test-bed.ts'

/** Starts a router whose route to applications has these rules. */
async function bedWith(t: Parameters<typeof testBed>[0], rules: RouteRules, listeners: readonly RequestListener[]) {
  const bed = await testBed(t, { trusted: ['127.0.0.1/32'] })
  const servers = await Promise.all(listeners.map((listener) => bed.application(listener)))
  await bed.lead(servers.map(portOf), { rules })
  return bed
}
const ok: RequestListener = (request, response) => {
  request.resume()
  request.once('end', () => response.setHeader('X-Powered-By', 'app').end('ok'))
}
// HAProxy accepts only whole handshakes (RFC 6455, 1.3).
const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
const accept = 'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n'
const from = (address: string) => ({ 'x-forwarded-for': address })

test('a body above the limit gets 413, with or without a declared length', async (t) => {
  const { ask, raw } = await bedWith(t, { maxBodyBytes: 10 }, [ok])
  assert.equal((await ask({ method: 'POST', body: '0123456789' })).status, 200)
  const large = await ask({ method: 'POST', body: '0123456789a', headers: { 'content-length': 11 } })
  assert.equal(large.status, 413)
  const head = 'POST / HTTP/1.1\r\nHost: app.localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n'
  assert.match(await untilClosed(raw(`${head}5\r\n01234\r\n0\r\n\r\n`)), /^HTTP\/1.1 200 /)
  assert.match(await untilClosed(raw(`${head}6\r\n012345\r\n6\r\n678901\r\n0\r\n\r\n`)), /^HTTP\/1.1 413 /)
})

test('requests and upgrades from denied or not allowed networks get 403', async (t) => {
  const { ask, lead, raw } = await bedWith(t, { deny: ['10.1.0.0/16', 'fd00::/8'] }, [ok])
  assert.equal((await ask({ headers: from('10.1.2.3') })).status, 403)
  assert.equal((await ask({ headers: from('fd00::1') })).status, 403)
  assert.equal((await ask({ headers: from('10.2.0.1') })).status, 200)
  assert.equal((await ask({ headers: from('10.1.2.3, 10.2.0.1') })).status, 200)
  const upgrade = `GET / HTTP/1.1\r\nHost: app.localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}`
  assert.match(await headOf(raw(`${upgrade}X-Forwarded-For: 10.1.2.3\r\n\r\n`)), /^HTTP\/1.1 403 /)
  await lead([1], { rules: { allow: ['192.0.2.0/24'] } })
  assert.equal((await ask({ headers: from('198.51.100.1') })).status, 403)
  assert.equal((await ask({ headers: from('192.0.2.7') })).status, 502)
})

test('a denied network of IPv6 leaves clients of IPv4 alone, and mapped addresses are IPv4', async (t) => {
  const { ask, lead } = await bedWith(t, { deny: ['::/0'] }, [ok])
  assert.equal((await ask({ headers: from('2001:db8::1') })).status, 403)
  assert.equal((await ask({ headers: from('192.0.2.1') })).status, 200)
  await lead([1], { rules: { deny: ['10.0.0.0/8'], requestsPerMinute: 1 } })
  assert.equal((await ask({ headers: from('::ffff:a01:203') })).status, 403)
  assert.equal((await ask({ headers: from('::ffff:c000:201') })).status, 502)
  assert.equal((await ask({ headers: from('::ffff:c000:202') })).status, 502)
  assert.equal((await ask({ headers: from('192.0.2.1') })).status, 429)
})

test('the forwarded client address counts only from a trusted peer', async (t) => {
  const bed = await testBed(t)
  await bed.lead([portOf(await bed.application(ok))], { rules: { deny: ['127.0.0.1'] } })
  assert.equal((await bed.ask({ headers: from('192.0.2.7') })).status, 403)
})

test('an endpoint that is silent for too long gets 504', async (t) => {
  const { ask } = await bedWith(t, { readTimeoutMs: 100 }, [() => {}])
  assert.equal((await ask()).status, 504)
})

/** Three applications that answer with their names. */
const replicas = ['a', 'b', 'c'].map(
  (name): RequestListener =>
    (_request, response) =>
      void response.end(name),
)

test('a sticky client keeps its endpoint while it is listed', async (t) => {
  const { ask } = await bedWith(t, { sticky: true }, replicas)
  const first = await ask()
  const cookie = String(first.headers['set-cookie']?.[0]).split(';')[0] ?? ''
  assert.match(cookie, /^quayside_replica=[\w-]{16}$/)
  for (let times = 0; times < 6; times++) {
    const next = await ask({ headers: { cookie: `other=1; ${cookie}` } })
    assert.deepEqual([next.body, next.headers['set-cookie']], [first.body, undefined])
  }
  const lost = await ask({ headers: { cookie: 'quayside_replica=0123456789abcdef' } })
  assert.match(String(lost.headers['set-cookie']), /quayside_replica=/)
})

test('a sticky client with a stale cookie of a longer path keeps its endpoint', async (t) => {
  const { ask } = await bedWith(t, { sticky: true }, replicas)
  const first = await ask()
  const current = String(first.headers['set-cookie']?.[0]).split(';')[0] ?? ''
  const stale = 'quayside_replica=0123456789abcdef'
  for (const cookie of [`${stale}; ${current}`, `${current}; ${stale}`, `${stale};${stale}; x=1; ${current}`]) {
    for (let times = 0; times < 4; times++) {
      const next = await ask({ headers: { cookie } })
      assert.deepEqual([next.body, next.headers['set-cookie']], [first.body, undefined], cookie)
    }
  }
})

test('the rules about headers apply to upgrades, whether they are accepted or not', async (t) => {
  const rules = {
    headers: { 'X-Frame-Options': 'DENY', 'x-powered-by': 'us' },
    sticky: true,
    cors: { origins: ['https://shop.example'], methods: 'GET', headers: 'X-One' },
  }
  const bed = await testBed(t)
  const servers = await Promise.all([1, 2, 3].map(() => bed.application(ok)))
  for (const server of servers) {
    server.on('upgrade', ({ url }, socket) => {
      const status = url === '/chat' ? `101 Switching Protocols\r\n${accept}` : '403 Forbidden\r\nContent-Length: 0\r\n'
      const id = `X-Port: ${portOf(server)}\r\nX-Powered-By: app\r\n`
      socket.end(`HTTP/1.1 ${status}Connection: Upgrade\r\nUpgrade: websocket\r\n${id}\r\n`)
    })
  }
  await bed.lead(servers.map(portOf), { rules })
  const upgrade = (path: string, cookie = ''): Promise<string> =>
    headOf(
      bed.raw(
        `GET ${path} HTTP/1.1\r\nHost: app.localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
          `${key}Origin: https://shop.example\r\nCookie: ${cookie}\r\n\r\n`,
      ),
    )
  for (const [path, status] of [
    ['/chat', '101'],
    ['/no', '403'],
  ] as const) {
    const text = await upgrade(path)
    assert.match(text, new RegExp(`^HTTP/1.1 ${status} `))
    assert.match(text, /\r\nX-Frame-Options: DENY\r\n/i)
    assert.match(text, /\r\nAccess-Control-Allow-Origin: https:\/\/shop.example\r\n/i)
    assert.deepEqual(text.match(/X-Powered-By: .*/gi), ['x-powered-by: us'])
    const cookie = /Set-Cookie: ([^;]+);/i.exec(text)?.[1] ?? ''
    const port = /X-Port: (.*)\r/i.exec(text)?.[1]
    assert.match(cookie, /^quayside_replica=/)
    for (let times = 0; times < 4; times++) {
      const again = await upgrade(path, cookie)
      assert.match(again, new RegExp(`X-Port: ${port}\r`, 'i'))
      assert.doesNotMatch(again, /Set-Cookie/i)
    }
  }
})

test('the headers of a rule replace those of the endpoint in every response', async (t) => {
  const { ask } = await bedWith(t, { headers: { 'X-Frame-Options': 'DENY', 'x-powered-by': 'us' } }, [ok])
  const { headers, body } = await ask()
  assert.deepEqual([headers['x-frame-options'], headers['x-powered-by'], body], ['DENY', 'us', 'ok'])
})

test('a CORS rule sets the headers of responses and answers preflights', async (t) => {
  const cors = { origins: ['https://shop.example', 'https://*.shop.example'], methods: 'GET, PUT', headers: 'X-One' }
  const { ask, lead } = await bedWith(t, { cors }, [
    (_request, response) => response.setHeader('Access-Control-Allow-Origin', 'https://old.example').end('ok'),
  ])
  const originFor = async (origin: string) =>
    (await ask({ headers: { origin } })).headers['access-control-allow-origin']
  assert.equal(await originFor('https://shop.example'), 'https://shop.example')
  assert.equal(await originFor('https://a.shop.example'), 'https://a.shop.example')
  assert.equal(await originFor('https://evil.example'), undefined)
  assert.equal(await originFor('https://a.b.shop.example'), undefined)
  const preflight = { origin: 'https://shop.example', 'access-control-request-method': 'PUT' }
  const { status, headers } = await ask({ method: 'OPTIONS', headers: preflight })
  assert.deepEqual([status, headers['access-control-allow-methods']], [204, 'GET, PUT'])
  assert.equal(headers['access-control-allow-credentials'], 'true')
  await lead([1], { rules: { cors: { ...cors, origins: ['*'] } } })
  const open = await ask({ method: 'OPTIONS', headers: preflight })
  assert.deepEqual(
    [open.headers['access-control-allow-origin'], open.headers['access-control-allow-credentials']],
    ['*', undefined],
  )
})

test('a response of a route with a CORS rule is safe in a cache, whichever request it answered', async (t) => {
  const cors = { origins: ['https://shop.example'], methods: 'GET', headers: 'X-One' }
  const { ask, lead } = await bedWith(t, { cors }, [(_request, response) => response.end('ok')])
  for (const headers of [{}, { origin: 'https://evil.example' }, { origin: 'https://shop.example' }]) {
    assert.equal((await ask({ headers })).headers.vary, 'Origin', JSON.stringify(headers))
  }
  await lead([1], { rules: { cors: { ...cors, origins: ['*'] }, maintenance: { message: 'Back soon' } } })
  const { headers } = await ask()
  assert.deepEqual([headers['access-control-allow-origin'], headers.vary], ['*', undefined])
})

test('pages of other origins read the responses of rules, and follow redirects after a preflight', async (t) => {
  const cors = { origins: ['https://shop.example'], methods: 'PUT', headers: 'X-One' }
  const redirects = [{ from: '/old', to: '/new', status: 308 }] as const
  const { ask, lead } = await bedWith(t, { cors, redirects, requestsPerMinute: 2 }, [ok])
  const origin = 'https://shop.example'
  const preflight = { origin, 'access-control-request-method': 'PUT' }
  const allowed = await ask({ path: '/old', method: 'OPTIONS', headers: preflight })
  assert.deepEqual([allowed.status, allowed.headers['content-length']], [204, undefined])
  for (const status of [308, 429]) {
    const moved = await ask({ path: '/old', method: 'PUT', headers: { origin } })
    const { vary, 'access-control-allow-origin': reader } = moved.headers
    assert.deepEqual([moved.status, vary, reader], [status, 'Origin', origin])
  }
  await lead([1], { rules: { cors } })
  const failed = await ask({ headers: { origin } })
  assert.deepEqual([failed.status, failed.headers['access-control-allow-origin']], [502, origin])
  const foreign = await ask({ headers: { origin: 'https://evil.example' } })
  assert.deepEqual([foreign.status, foreign.headers['access-control-allow-origin']], [502, undefined])
})

const flaky = (statuses: readonly number[]) => {
  const asked: string[] = []
  const listener: RequestListener = (request, response) => {
    request.resume()
    response.statusCode = statuses[asked.length] ?? 200
    asked.push(request.method ?? '')
    response.end(`try ${asked.length}`)
  }
  return { asked, listener }
}

test('the router retries a listed status as often as the rule allows', async (t) => {
  const app = flaky([503, 503, 503, 503])
  const { ask, lead } = await bedWith(t, { retry: { times: 2, on: ['gateway-error'] } }, [app.listener])
  const refused = await ask()
  assert.deepEqual([refused.status, refused.body, app.asked.length], [503, 'try 3', 3])
  const good = await ask()
  assert.deepEqual([good.status, good.body], [200, 'try 5'])
  await lead([1], { rules: { retry: { times: 0 } } })
  assert.equal((await ask()).status, 502)
})

test('a rule never retries a request that may have had an effect', async (t) => {
  const app = flaky([503])
  const { ask } = await bedWith(t, { retry: { times: 5, on: ['5xx'], statuses: [503] } }, [app.listener])
  assert.equal((await ask({ method: 'POST', body: 'order' })).status, 503)
  assert.deepEqual(app.asked, ['POST'])
})

test('the router retries only the statuses that the rule names', async (t) => {
  const app = flaky([500, 429, 200])
  const { ask } = await bedWith(t, { retry: { times: 3, statuses: [429] } }, [app.listener])
  assert.equal((await ask()).status, 500)
  assert.equal((await ask()).body, 'try 3')
})

test('a rule for failed connections does not retry a reset', async (t) => {
  let asked = 0
  const breaking: RequestListener = (request) => {
    asked++
    request.socket.destroy()
  }
  const { ask } = await bedWith(t, { retry: { times: 3, on: ['connect-failure'] } }, [breaking])
  assert.equal((await ask()).status, 502)
  assert.equal(asked, 1)
})

test('the router retries when a try does not begin to answer in time', async (t) => {
  let asked = 0
  const { ask } = await bedWith(t, { retry: { times: 2, perTryMs: 100 } }, [
    (_request, response) => void (asked++ === 0 || response.end('second')),
  ])
  const answer = await ask()
  assert.deepEqual([answer.status, answer.body], [200, 'second'])
})

test('a request over its total time gets 504, or is cut off if its response has begun', async (t) => {
  const { ask, raw, lead } = await bedWith(t, { requestTimeoutMs: 150 }, [
    (request, response) => void (request.url === '/begun' && response.write('first')),
  ])
  const late = await ask()
  assert.deepEqual([late.status, late.body.includes('did not answer within 0.15 s')], [504, true])
  assert.match(await untilClosed(raw('GET /begun HTTP/1.1\r\nHost: app.localhost\r\n\r\n')), /first/)
  await lead([1], { rules: { requestTimeoutMs: 300 } })
  assert.equal((await ask()).status, 504)
})

const whileSending = { skip: beds.haproxy ? 'HAProxy closes while the client sends, which can lose the answer' : false }

test('an endpoint that stops accepting a body times out with 504', whileSending, async (t) => {
  const { raw } = await bedWith(t, { sendTimeoutMs: 200 }, [(request) => void request.pause()])
  const socket = raw('POST / HTTP/1.1\r\nHost: app.localhost\r\nContent-Length: 33554432\r\nConnection: close\r\n\r\n')
  socket.write(Buffer.alloc(33_554_432))
  assert.match(await untilClosed(socket), /^HTTP\/1.1 504 /)
})

test('the router waits when a client sends its body slowly', async (t) => {
  const { raw } = await bedWith(t, { sendTimeoutMs: 50 }, [ok])
  const socket = raw('POST / HTTP/1.1\r\nHost: app.localhost\r\nContent-Length: 2\r\nConnection: close\r\n\r\na')
  await sleep(400)
  socket.write('b')
  assert.match(await untilClosed(socket), /^HTTP\/1.1 200 /)
})

test('the router closes the connection when a client stops reading', async (t) => {
  let isCut = false
  const endless: RequestListener = (_request, response) => {
    response.once('close', () => {
      isCut = true
    })
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536))) {}
    }
    response.on('drain', more)
    more()
  }
  const { raw } = await bedWith(t, { clientTimeoutMs: 200 }, [endless])
  raw('GET / HTTP/1.1\r\nHost: app.localhost\r\n\r\n').pause()
  await until('the answer ends', () => isCut)
})

test('a connection to an endpoint closes after the idle time of the rule', async (t) => {
  const bed = await testBed(t)
  const server = await bed.application(ok)
  server.keepAliveTimeout = 60_000
  const open = () => new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)))
  await bed.lead([portOf(server)], { rules: { idleTimeoutMs: 2_000 } })
  assert.equal((await bed.ask()).status, 200)
  assert.equal(await open(), 1)
  await until('it closes', async () => (await open()) === 0, { limitMs: 20_000 })
})

test('a table with invalid rules is rejected', async (t) => {
  const { tell } = await testBed(t)
  for (const rules of [
    { deny: ['nowhere'] },
    { maxBodyBytes: -1 },
    { headers: { 'a b': 'x' } },
    { cors: { origins: '*' } },
    { retry: { times: -1 } },
    { retry: { times: 1, on: ['everything'] } },
    { requestTimeoutMs: 'soon' },
  ]) {
    const routes = [{ host: 'app.localhost', service: 's', name: 'shop', endpoints: [], rules }]
    assert.equal((await tell('PUT', '/routes', { version: 9, routes })).status, 400, JSON.stringify(rules))
  }
})
