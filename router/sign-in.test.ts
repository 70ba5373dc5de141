import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingHttpHeaders, request as sendRequest } from 'node:http'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { freshMs, signInMs, signInPath, tokenStartMs } from '@quayside/contract/sign-in.ts'
import {
  access,
  account,
  digest,
  guard,
  listed,
  names,
  page,
  returnTo,
  secret,
  service,
  tokenOf,
} from './sign-in-bed.ts'
import { portOf, type TestBed, testBed, untilClosed } from './test-bed.ts'

// Applications behind the sign-in of the platform: who enters, and who does not.

/** An application behind the sign-in, and the headers of the requests that reached it. */
async function guarded(t: Parameters<typeof testBed>[0], people?: Readonly<Record<string, number>>) {
  const bed = await testBed(t)
  const seen: { readonly url: string | undefined; readonly headers: IncomingHttpHeaders }[] = []
  const application = await bed.application((request, response) => {
    seen.push({ url: request.url, headers: request.headers })
    response.setHeader('cache-control', 'public, max-age=60, s-maxage=600')
    response.end('inside')
  })
  const lead = (known?: Readonly<Record<string, number>>) =>
    bed.lead([portOf(application)], { service, rules: guard }, listed(known))
  await lead(people)
  const leadBy = (rules: object) =>
    bed.lead([portOf(application)], { service, rules: { ...guard, ...rules } }, listed())
  return { ...bed, lead, leadBy, seen, port: portOf(application) }
}

/** The end of a request for a WebSocket, and the header that accepts it (RFC 6455, 1.3). */
const webSocket =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
const accepted = 'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo='
/** Returns the first bytes that a connection receives. */
const firstOf = async (socket: Socket): Promise<string> => String((await once(socket, 'data'))[0])

const html = { accept: 'text/html' }
const cookiesOf = ({ headers }: { readonly headers: IncomingHttpHeaders }): readonly string[] =>
  headers['set-cookie'] ?? []

test('a browser without a session is sent to the sign-in page, with the digest of its secret', async (t) => {
  const { ask, seen } = await guarded(t)
  const { status, headers } = await ask({ path: '/report?of=may', headers: html })
  const [cookie = ''] = headers['set-cookie'] ?? []
  const [, own = ''] =
    /^quayside-start-00000000000a=([\w-]{43}); Path=\/; Max-Age=900; HttpOnly; SameSite=Lax$/.exec(cookie) ?? []
  const question = new URL(headers.location ?? '')
  assert.equal(status, 302)
  assert.equal(question.origin + question.pathname, page)
  assert.deepEqual(Object.fromEntries(question.searchParams), {
    service,
    host: 'app.localhost',
    challenge: digest(own),
    path: '/report?of=may',
  })
  assert.equal(headers['cache-control'], 'no-store')
  const again = await ask({ headers: { ...html, cookie: `${names.start}=${own}` } })
  assert.equal(new URL(again.headers.location ?? '').searchParams.get('challenge'), digest(own), 'tabs share a secret')
  assert.deepEqual(seen, [])
})

test('everything but opening a page gets 401 and is not redirected', async (t) => {
  const { ask, raw, seen } = await guarded(t)
  const attempts = [
    { headers: {} },
    { headers: { accept: '*/*' } },
    { headers: { ...html, 'sec-fetch-mode': 'cors' } },
    { method: 'HEAD', headers: html },
    { method: 'POST', headers: { ...html, 'content-type': 'text/plain' }, body: 'order' },
    { method: 'OPTIONS', headers: { origin: 'https://a.test', 'access-control-request-method': 'GET' } },
    { headers: { authorization: 'Bearer quay_anything' } },
  ]
  for (const attempt of attempts) {
    const { status, headers } = await ask(attempt)
    assert.deepEqual([status, headers.location], [401, undefined], JSON.stringify(attempt))
  }
  const upgrade = await firstOf(raw(`GET / HTTP/1.1\r\nHost: app.localhost\r\nAccept: text/html\r\n${webSocket}`))
  assert.match(upgrade, /^HTTP\/1\.1 401 /)
  assert.deepEqual(seen, [])
})

test('a browser that comes back with its token gets a session, and the application learns who it is', async (t) => {
  const { ask, seen } = await guarded(t)
  const back = await ask({ path: returnTo(tokenOf()), headers: { cookie: `${names.start}=${secret}` } })
  assert.deepEqual([back.status, back.headers.location], [303, '/report?of=may'])
  const [set = '', cleared = ''] = cookiesOf(back)
  assert.match(set, /; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/)
  assert.match(cleared, /^quayside-start-00000000000a=; Path=\/; Max-Age=0;/)
  const cookie = `theme=dark; ${set.split(';')[0]}; size=2`
  const forged = {
    'X-Forwarded-User': 'root',
    'x-forwarded-email': 'root@example.org',
    'X-Forwarded-Groups': 'Owner',
    X_Forwarded_User: 'root',
    'X-Forwarded_User': 'root',
    'Remote-User': 'root',
    'X-Auth-Request-Email': 'root@example.org',
  }
  const inside = await ask({ path: '/report', headers: { ...forged, cookie } })
  assert.deepEqual([inside.status, inside.body], [200, 'inside'])
  assert.equal(inside.headers['cache-control'], 'max-age=60, private')
  assert.equal(inside.headers.vary, 'Cookie')
  const [{ headers } = assert.fail('nothing arrived')] = seen
  assert.equal(headers.cookie, 'theme=dark; size=2')
  const about = Object.entries(headers).filter(([name]) => /user|email|groups/.test(name) && name !== 'user-agent')
  assert.deepEqual(Object.fromEntries(about), {
    'x-forwarded-user': account,
    'x-forwarded-email': 'ada@example.org',
    'x-forwarded-groups': 'DevOps',
  })
})

test('a token begins no session in another browser, at another place, too late or changed', async (t) => {
  const { ask, seen } = await guarded(t)
  const [content = '', signature = ''] = tokenOf().split('.')
  const other = generateKeyPairSync('ed25519').privateKey
  const changed = Buffer.from(content, 'base64url').toString().replace('DevOps', 'Owner0')
  const start = { cookie: `${names.start}=${secret}` }
  const attempts: readonly [why: string, path: string, headers: Record<string, string>][] = [
    ['no cookie', returnTo(tokenOf()), {}],
    ['the secret of another browser', returnTo(tokenOf()), { cookie: `${names.start}=${'t'.repeat(43)}` }],
    ['another host', returnTo(tokenOf({ host: 'b.localhost' })), start],
    ['another service', returnTo(tokenOf({ service: '01900000-0000-7000-8000-00000000000b' })), start],
    ['another path', returnTo(tokenOf(), '/else'), start],
    ['another host as path', returnTo(tokenOf({ path: digest('//evil.test') }), '//evil.test'), start],
    [
      'another host as path, by a backslash',
      returnTo(tokenOf({ path: digest('/\\evil.test') }), '/\\evil.test'),
      start,
    ],
    ['an address as path', returnTo(tokenOf({ path: digest('https://evil.test') }), 'https://evil.test'), start],
    ['too late', returnTo(tokenOf({ issuedAtMs: Date.now() - tokenStartMs - 1000 })), start],
    ['too early', returnTo(tokenOf({ issuedAtMs: Date.now() + tokenStartMs + 5000 })), start],
    ['another key', returnTo(tokenOf({}, other)), start],
    ['changed', returnTo(`${Buffer.from(changed).toString('base64url')}.${signature}`), start],
    ['no signature', returnTo(content), start],
    ['nothing', `${signInPath}?`, start],
    ['too long', returnTo(`${'a'.repeat(9000)}.${signature}`), start],
  ]
  for (const [why, path, headers] of attempts) {
    const { status, headers: answer } = await ask({ path, headers })
    assert.deepEqual([status, answer.location, answer['set-cookie']], [303, signInPath, undefined], why)
  }
  assert.equal((await ask({ path: signInPath, headers: html })).status, 400)
  assert.deepEqual(seen, [])
})

test('the application never sees the path of the return, however it is written', async (t) => {
  const { ask, raw, seen } = await guarded(t)
  const cookie = access()
  for (const path of [signInPath, `${signInPath}?token=x`, '/.well-known/quayside/%73ign-in?token=x']) {
    assert.notEqual((await ask({ path, headers: { cookie } })).status, 200, path)
  }
  assert.equal((await ask({ method: 'POST', path: `${signInPath}?token=x`, headers: { cookie } })).status, 303)
  const upgrade = `GET ${signInPath} HTTP/1.1\r\nHost: app.localhost\r\nCookie: ${cookie}\r\n`
  assert.match(await firstOf(raw(`${upgrade}${webSocket}`)), /^HTTP\/1\.1 400 /)
  const whole = `GET http://app.localhost${signInPath} HTTP/1.1\r\nHost: app.localhost\r\nConnection: close\r\n\r\n`
  assert.match(await firstOf(raw(whole)), /^HTTP\/1\.1 400 /)
  assert.deepEqual(seen, [])
})

test('a session counts for its service and host only, and ends', async (t) => {
  const { ask, seen } = await guarded(t)
  const invalid = [
    access({ host: 'b.localhost' }),
    access({ service: '01900000-0000-7000-9000-00000000000a' }),
    access({ issuedAtMs: Date.now() - signInMs }),
    access({ challenge: digest('other') }),
    `${names.access}=${tokenOf()}`,
    `__Host-${access()}`,
    `\u00a0${access()}`,
    `${names.start}=${secret}.${tokenOf()}`,
  ]
  for (const cookie of invalid) assert.equal((await ask({ headers: { cookie } })).status, 401, cookie)
  assert.deepEqual(seen, [])
  const tossed = `${names.access}=wrong; ${access()}`
  assert.equal((await ask({ headers: { cookie: tossed } })).status, 200, 'a second cookie hides no valid one')
})

test('who lost the role or signed out is out with the next table', async (t) => {
  const { ask, lead } = await guarded(t)
  const cookie = access()
  assert.equal((await ask({ headers: { cookie } })).status, 200)
  await lead({ [account]: Date.now() + 1000 })
  assert.equal((await ask({ headers: { cookie } })).status, 401)
  assert.equal((await ask({ headers: { cookie, ...html } })).status, 302)
  await lead({})
  assert.equal((await ask({ headers: { cookie } })).status, 200, 'the server has just admitted the person')
  const older = access({ issuedAtMs: Date.now() - freshMs })
  const out = await ask({ headers: { cookie: older, ...html } })
  assert.equal(out.status, 403)
  assert.match(out.body, /ada@example\.org may not open shop/)
  assert.match(cookiesOf(out)[0] ?? '', /^quayside-access-00000000000a=; .*Max-Age=0/)
})

test('what a person has open ends with the right to open it', async (t) => {
  const bed = await testBed(t)
  const application = await bed.application((_request, response) => void response.write('begun'))
  application.on('upgrade', (_request, socket) => {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${accepted}\r\n\r\n`)
  })
  const lead = (people: Readonly<Record<string, number>>) =>
    bed.lead([portOf(application)], { service, rules: guard }, listed(people))
  await lead({ [account]: 0 })
  const issuedAtMs = Date.now() - freshMs
  const head = `GET / HTTP/1.1\r\nHost: app.localhost\r\nCookie: ${access({ issuedAtMs })}\r\n`
  const stream = bed.raw(`${head}\r\n`)
  const socket = bed.raw(`${head}${webSocket}`)
  const texts = [untilClosed(stream), untilClosed(socket)]
  await Promise.all([once(stream, 'data'), once(socket, 'data')])
  await lead({ [account]: 0, other: 0 })
  assert.ok(!stream.closed && !socket.closed, 'another list with the person changes nothing')
  await lead({ other: 0 })
  const [streamed = '', upgraded = ''] = await Promise.all(texts)
  assert.match(streamed, /^HTTP\/1\.1 200 [\s\S]*begun/)
  assert.match(upgraded, /^HTTP\/1\.1 101 /)
})

test('a page of another origin changes nothing with the session of a person', async (t) => {
  const { ask, raw, seen } = await guarded(t)
  const cookie = access()
  const post = (headers: Record<string, string>) => ask({ method: 'POST', headers: { cookie, ...headers }, body: 'x' })
  for (const headers of [
    { origin: 'http://evil.localhost' },
    { origin: 'null' },
    { origin: 'http://app.localhost:81' },
    { 'sec-fetch-site': 'same-site' },
  ]) {
    assert.equal((await post(headers)).status, 403, JSON.stringify(headers))
  }
  const upgrade = (origin: string): string =>
    `GET / HTTP/1.1\r\nHost: app.localhost\r\nCookie: ${cookie}\r\nOrigin: ${origin}\r\n`
  const socket = raw(`${upgrade('http://evil.localhost')}${webSocket}`)
  assert.match(await firstOf(socket), /^HTTP\/1\.1 403 /)
  assert.deepEqual(seen, [])
  assert.equal((await post({ origin: 'http://app.localhost' })).status, 200)
  assert.equal((await post({})).status, 200, 'a program without a browser sends no origin')
})

const siblings: readonly Readonly<Record<string, string>>[] = ['same-site', 'cross-site'].flatMap((site) => [
  ...['script', 'image', 'style', 'object', 'embed', 'video', 'font', 'empty', 'worker', 'track'].map((dest) => ({
    'sec-fetch-site': site,
    'sec-fetch-mode': 'no-cors',
    'sec-fetch-dest': dest,
  })),
  ...['iframe', 'frame', 'object', 'embed', 'fencedframe'].map((dest) => ({
    'sec-fetch-site': site,
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': dest,
  })),
  { 'sec-fetch-site': site, 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'script', origin: 'http://evil.localhost' },
  { 'sec-fetch-site': site, 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', origin: 'http://evil.localhost' },
  { 'sec-fetch-site': site },
])
const ownPages: readonly Readonly<Record<string, string>>[] = [
  { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' },
  { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
  { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
  { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
  { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
  {},
]

test('a page of another origin loads nothing with the session of a person, but may open a page', async (t) => {
  const { ask, seen } = await guarded(t)
  const cookie = access()
  for (const method of ['GET', 'HEAD']) {
    for (const headers of siblings) {
      const { status } = await ask({ method, headers: { cookie, ...headers } })
      assert.equal(status, 403, `${method} ${JSON.stringify(headers)}`)
    }
  }
  assert.deepEqual(seen, [])
  for (const headers of ownPages) {
    const { status, headers: answer } = await ask({ headers: { cookie, ...headers } })
    assert.equal(status, 200, JSON.stringify(headers))
    assert.equal(answer['cross-origin-resource-policy'], 'same-origin')
    assert.equal(answer['content-security-policy'], "frame-ancestors 'self'")
  }
})

test('a page of another origin loads what the setting of the application or its CORS rule allows', async (t) => {
  const { ask, leadBy } = await guarded(t)
  const cookie = access()
  await leadBy({ embeddable: true })
  for (const headers of siblings) {
    const { status, headers: answer } = await ask({ headers: { cookie, ...headers } })
    assert.equal(status, 200, JSON.stringify(headers))
    assert.deepEqual(
      [answer['cross-origin-resource-policy'], answer['content-security-policy']],
      [undefined, undefined],
    )
  }
  const cors = { methods: 'GET', headers: 'X-One' }
  const read = { cookie, 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }
  const load = { ...read, 'sec-fetch-mode': 'no-cors' }
  const origin = 'http://shop.localhost'
  for (const origins of [[origin], ['*']]) {
    await leadBy({ cors: { ...cors, origins } })
    assert.equal((await ask({ headers: { ...read, origin } })).status, 200, origins.join())
    for (const headers of [load, { ...load, 'sec-fetch-dest': 'script' }]) {
      assert.equal((await ask({ headers })).status, 403, 'nothing says which page loads it')
    }
  }
  await leadBy({ cors: { ...cors, origins: [origin] } })
  assert.equal((await ask({ headers: { ...read, origin: 'http://evil.localhost' } })).status, 403)
})

/** Headers of other gateways. Each one of them has the name of a person for some application. */
const identities = [
  ...['Remote-User', 'Remote-Name', 'Remote-Email', 'Remote-Groups', 'Remote-Anything', 'X-Remote-User'],
  ...['X-Remote-Group', 'X-Remote-Extra-Scopes', 'X-Auth-Request-User', 'X-Auth-Request-Preferred-Username'],
  ...['X-Auth-Request-Access-Token', 'X-Auth-Username', 'X-Auth-Userid', 'X-Auth-Roles', 'X-WEBAUTH-USER'],
  ...['X-WEBAUTH-FULLNAME', 'X-Authentik-Username', 'X-Authentik-Jwt', 'X-Authelia-User'],
  ...['Cf-Access-Authenticated-User-Email', 'Cf-Access-Jwt-Assertion', 'X-Goog-IAP-JWT-Assertion'],
  ...['X-Goog-Authenticated-User-Email', 'X-Amzn-Oidc-Identity', 'X-Amzn-Oidc-Data', 'X-MS-CLIENT-PRINCIPAL'],
  ...['X-MS-CLIENT-PRINCIPAL-NAME', 'X-Pomerium-Claim-Email', 'X-Pomerium-Jwt-Assertion', 'X-Vouch-User'],
  ...['Tailscale-User-Login', 'X-Tailscale-User', 'X-Token-User-Email', 'X-Token-Subject', 'X-User-Id', 'X-User'],
  ...['X-User-Roles', 'X-Username', 'X-Consumer-Username', 'X-Authenticated-Userid', 'X-Userinfo', 'OIDC-CLAIM-email'],
  ...['X-Forwarded-User', 'X-Forwarded-Email', 'X-Forwarded-Groups', 'X-Forwarded-Preferred-Username'],
  ...['X-Forwarded-Access-Token', 'X-Forwarded-Roles', 'X-Forwarded-Client-Cert', 'SSL-Client-Subject-DN'],
  ...['Shib-Session-ID', 'SM-User', 'IV-User'],
]
const ordinary = ['X-User-Agent', 'X-Requested-With', 'X-Auth-Token', 'X-Request-Id', 'X-Authority', 'Remote', 'Ivory']

test('an application learns who is signed in from the router alone, whatever headers a client sends', async (t) => {
  for (const trusted of [[], ['127.0.0.1']]) {
    const bed = await testBed(t, { trusted })
    const seen: IncomingHttpHeaders[] = []
    const application = await bed.application((request, response) => {
      seen.push(request.headers)
      response.end('inside')
    })
    application.on('upgrade', ({ headers }, socket) => {
      seen.push(headers)
      socket.end(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${accepted}\r\n\r\n`)
    })
    await bed.lead([portOf(application)], { service, rules: guard }, listed())
    const spelled = identities.flatMap((name) => [name, name.replaceAll('-', '_'), name.replace('-', '_')])
    // HAProxy takes about a hundred headers of one request.
    for (let from = 0; from < spelled.length; from += 50) {
      const all = [...spelled.slice(from, from + 50), ...ordinary].map((name): [string, string] => [name, 'root'])
      const inside = await bed.ask({ headers: { ...Object.fromEntries(all), cookie: access() } })
      assert.equal(inside.status, 200)
      const lines = all.map(([name, value]) => `${name}: ${value}\r\n`).join('')
      const upgrade = `GET / HTTP/1.1\r\nHost: app.localhost\r\nCookie: ${access()}\r\n${lines}`
      assert.match(await firstOf(bed.raw(upgrade + webSocket)), /^HTTP\/1\.1 101 /)
    }
    assert.equal(seen.length, 2 * Math.ceil(spelled.length / 50))
    for (const headers of seen) {
      const forged = Object.entries(headers).filter(([name, value]) => value === 'root' && !isOrdinary(name))
      assert.deepEqual(forged, [])
      assert.equal(headers['x-forwarded-email'], 'ada@example.org')
      for (const name of ordinary) assert.equal(headers[name.toLowerCase()], 'root', name)
    }
  }
})

const isOrdinary = (name: string): boolean => ordinary.some((one) => one.toLowerCase() === name)

/** Two services at one host. */
async function divided(t: Parameters<typeof testBed>[0]): Promise<TestBed & { readonly seen: (string | undefined)[] }> {
  const bed = await testBed(t)
  const seen: (string | undefined)[] = []
  const application = await bed.application((request, response) => {
    seen.push(request.headers.cookie)
    response.end('open')
  })
  const endpoints = [{ address: '127.0.0.1', port: portOf(application) }]
  const routes = [
    { host: 'app.localhost', service: 'neighbour', name: 'neighbour', endpoints },
    { host: 'app.localhost', path: '/admin', service, name: 'admin', endpoints, rules: guard },
  ]
  assert.equal((await bed.tell('PUT', '/routes', { version: 1, routes, people: listed() })).status, 200)
  return { ...bed, seen }
}

test('a neighbour at the same host gets no cookie of the session', async (t) => {
  const { ask, seen } = await divided(t)
  const secure = `__Host-${access()}`
  const cookie = `a=1; ${access()}; ${names.start}=${secret}; ${secure}; b=2`
  assert.equal((await ask({ path: '/', headers: { cookie } })).status, 200)
  assert.equal((await ask({ path: '/', headers: { cookie: access() } })).status, 200)
  assert.equal((await ask({ path: '/admin', headers: { cookie } })).status, 200)
  assert.deepEqual(seen, ['a=1; b=2', undefined, 'a=1; b=2'])
})

test('no spelling of a path leads past the rule of a route by path', async (t) => {
  const { ask } = await divided(t)
  for (const path of ['/admin', '/admin/', '/%61dmin', '/admin;x=1', '/admin;x/y']) {
    assert.equal((await ask({ path })).status, 401, path)
  }
  for (const path of ['//admin', '/x/../admin', '/x/%2e%2e/admin', '/admin%2fx']) {
    assert.equal((await ask({ path })).status, 400, path)
  }
  const back = await ask({ path: returnTo(tokenOf()), headers: { cookie: `${names.start}=${secret}` } })
  assert.deepEqual([back.status, cookiesOf(back).length], [303, 2], 'the host answers the return for each path')
})

test('a request that does not enter wakes no sleeping service', async (t) => {
  const bed = await testBed(t)
  await bed.lead([], { service, rules: guard, asleep: true }, listed())
  assert.equal((await bed.ask()).status, 401)
  assert.equal((await bed.ask({ path: signInPath })).status, 400)
  const { body } = await bed.tell('POST', '/wakes', { sequence: 0, timeoutMs: 0 })
  assert.deepEqual(body['services'], [])
})

test('a rule that cannot be read is rejected with its table', async (t) => {
  const bed = await testBed(t)
  const whole = guard.signIn
  for (const signIn of [
    { ...whole, page: 'javascript:x' },
    { ...whole, key: 'x' },
    { ...whole, organization: 7 },
    { ...whole, roles: 'VIEWER' },
    {},
  ]) {
    const routes = [{ host: 'app.localhost', service, name: 'shop', endpoints: [], rules: { signIn } }]
    assert.equal((await bed.tell('PUT', '/routes', { version: 1, routes })).status, 400, JSON.stringify(signIn))
  }
})

test('wrong tokens take a time that allows other requests', async (t) => {
  const { ask, router } = await guarded(t)
  const [content = ''] = tokenOf().split('.')
  const wrong = `${names.access}=${secret}.${content}.${'A'.repeat(86)}`
  const startedAt = performance.now()
  for (let index = 0; index < 300; index++) {
    await new Promise((resolve, reject) => {
      sendRequest({ port: router.port, headers: { host: 'app.localhost', cookie: wrong } }, (answer) => {
        answer.resume().once('end', resolve)
      })
        .on('error', reject)
        .end()
    })
  }
  assert.ok(performance.now() - startedAt < 10_000)
  assert.equal((await ask({ headers: { cookie: access() } })).status, 200)
})
