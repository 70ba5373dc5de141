import assert from 'node:assert/strict'
import { createSign, generateKeyPairSync, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, mock, test } from 'node:test'
import { createJwtVerifier } from '../../server/access/jwt.ts'
import { systemClock } from '../../server/lib/clock.ts'
import { createPlatform } from '../support/platform.ts'

/** Group B: tokens that can be read in two ways, and an issuer that does not answer. */
const [issuer, audience] = ['https://issuer.example', 'quayside']
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const asked: string[] = []
const server = createServer((request, response) => {
  asked.push(request.url ?? '')
  const key = { ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [key] }))
})
server.listen(0, '127.0.0.1')
await new Promise((resolve) => server.once('listening', resolve))
const close = (): Promise<void> =>
  new Promise((resolve) => {
    server.closeAllConnections()
    server.close(() => resolve())
  })
after(close)
// A listening TCP server has an address with a port.
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const issuers = [{ issuer, audience, jwksUrl: `${origin}/jwks`, algorithms: ['RS256'], members: {} }]
const verify = createJwtVerifier(issuers, systemClock)

const now = (): number => Math.floor(systemClock.now().getTime() / 1000)
const goodClaims = (): string =>
  `"iss":"${issuer}","aud":"${audience}","sub":"someone","iat":${now()},"exp":${now() + 3000},"jti":"${randomUUID()}"`
/** Signs these texts unchanged, so only their content can be wrong. */
function sign(header = '{"alg":"RS256","kid":"one"}', claims = `{${goodClaims()}}`): string {
  const text = [header, claims].map((part) => Buffer.from(part).toString('base64url')).join('.')
  return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey, 'base64url')}`
}

test('a token without duplicate members is valid', async () => {
  assert.deepEqual(await verify(sign()), { issuer, subject: 'someone' })
  assert.deepEqual(await verify(sign('{"alg":"RS256"}')), { issuer, subject: 'someone' })
})

test('B6: a key id is only compared with the known keys', async () => {
  const ids: unknown[] = [
    '../../dev/null',
    '/etc/passwd',
    "x' UNION SELECT",
    `${origin}/canary`,
    'x'.repeat(5000),
    'one\u0000',
    'one\n',
    '',
    ['one'],
    { kid: 'one' },
    1,
    0,
    null,
    true,
  ]
  for (const kid of ids) {
    assert.equal(await verify(sign(JSON.stringify({ alg: 'RS256', kid }))), undefined, JSON.stringify(kid))
  }
  assert.equal(await verify(sign(JSON.stringify({ alg: 'RS256', kid: 'x'.repeat(10_000) }))), undefined)
  assert.deepEqual([...new Set(asked)], ['/jwks'])
})

test('B17: a duplicate member is refused, whichever of the two would be right', async () => {
  const headers = [
    '{"alg":"RS256","alg":"none","kid":"one"}',
    '{"alg":"none","alg":"RS256","kid":"one"}',
    '{"alg":"RS256","kid":"other","kid":"one"}',
    '{"alg":"RS256","\\u0061lg":"RS256","kid":"one"}',
  ]
  for (const header of headers) assert.equal(await verify(sign(header)), undefined, header)
  const twice = [
    `"aud":"other"`,
    `"aud":"${audience}"`,
    `"iss":"${issuer}"`,
    `"sub":"somebody else"`,
    `"exp":${now() + 9000}`,
    `"\\u0073ub":"somebody else"`,
    `"a":{"b":1,"b":1}`,
  ]
  for (const more of twice) {
    assert.equal(await verify(sign(undefined, `{${goodClaims()},${more}}`)), undefined, more)
    assert.equal(await verify(sign(undefined, `{${more},${goodClaims()}}`)), undefined, more)
  }
})

test('B25: a bad token is 401 for every read and never counts as no token', async (t) => {
  const platform = await createPlatform(t)
  const { a, call } = platform
  const forged = [sign(), sign('{"alg":"none"}'), `${sign().split('.').slice(0, 2).join('.')}.`, 'a.b.c', 'quay_x_y']
  const paths = ['/organization', `/organization/${a.organizationId}`, `/application/${a.objects.applicationId}/status`]
  const before = await platform.fingerprint()
  for (const path of paths) {
    const without = await call(undefined, 'GET', path)
    assert.equal(without.status, 401, path)
    for (const token of forged) assert.equal((await call(token, 'GET', path)).status, 401, `${path} ${token}`)
  }
  assert.deepEqual(await platform.fingerprint(), before)
})

/** Ends the issuer, so it comes last. */
test('B23: keys of an unreachable issuer are valid for ten minutes, and then every token is refused', async (t) => {
  const known = sign()
  assert.ok(await verify(known))
  await close()
  assert.ok(await verify(sign()), 'with the cached keys')
  assert.equal(await verify(sign('{"alg":"RS256","kid":"new"}')), undefined)
  const started = systemClock.now().getTime()
  mock.timers.enable({ apis: ['Date'], now: started + 11 * 60_000 })
  t.after(() => mock.timers.reset())
  assert.equal(await verify(sign()), undefined)
  assert.equal(await verify(known), undefined, 'a token that was verified before')
})
