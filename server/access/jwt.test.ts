import assert from 'node:assert/strict'
import { createHmac, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose'
import { systemClock } from '../lib/clock.ts'
import { createJwtVerifier, type VerifyJwt } from './jwt.ts'

const issuer = 'https://issuer.example'
const audience = 'quayside'
const now = Math.floor(systemClock.now().getTime() / 1000)

describe('JWTs of a configured issuer', () => {
  let key: CryptoKey
  let publicKey: CryptoKey
  let verify: VerifyJwt
  let fetches = 0
  const server = createServer(async (_request, response) => {
    fetches++
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }] }))
  })

  before(async () => {
    const pair = await generateKeyPair('RS256')
    key = pair.privateKey
    publicKey = pair.publicKey
    server.listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    // A listening TCP server has an address with a port.
    const { port } = server.address() as AddressInfo
    const jwksUrl = `http://127.0.0.1:${port}/jwks`
    verify = createJwtVerifier([{ issuer, audience, jwksUrl, algorithms: ['RS256'], members: {} }], systemClock)
  })
  after(() => server.close())

  const claims = { iss: issuer, aud: audience, sub: 'someone', iat: now, exp: now + 600 }
  const sign = (change: Record<string, unknown> = {}, header: Record<string, unknown> = {}, by: CryptoKey = key) =>
    new SignJWT(Object.fromEntries(Object.entries({ ...claims, ...change }).filter(([, value]) => value !== undefined)))
      .setProtectedHeader({ alg: 'RS256', kid: 'one', ...header })
      .sign(by)

  test('a valid one has issuer and subject, and its other claims are ignored', async () => {
    const token = await sign({ admin: true, roles: ['OWNER'] })
    assert.deepEqual(await verify(token), { issuer, subject: 'someone' })
    assert.deepEqual(await verify(token), { issuer, subject: 'someone' })
    assert.deepEqual(await verify(await sign({ aud: ['other', audience] })), { issuer, subject: 'someone' })
    assert.deepEqual(await verify(await sign({ exp: now - 20 })), { issuer, subject: 'someone' }, 'within the leeway')
  })

  const refused: Record<string, Record<string, unknown>> = {
    'another issuer': { iss: 'https://evil.example' },
    'the issuer with a slash': { iss: `${issuer}/` },
    'a list of issuers': { iss: [issuer] },
    'no issuer': { iss: undefined },
    'another audience': { aud: 'other' },
    'no audience': { aud: undefined },
    'an old one': { exp: now - 40 },
    'no end': { exp: undefined },
    'an end as text': { exp: String(now + 600) },
    'a negative end': { exp: -1 },
    'one that is not yet valid': { nbf: now + 120 },
    'one from the future': { iat: now + 900, exp: now + 1000 },
    'more than a day of life': { exp: now + 90_000 },
    'no subject': { sub: undefined },
    'an id token': { nonce: 'x' },
  }
  for (const [what, change] of Object.entries(refused)) {
    test(`refuses ${what}`, async () => assert.equal(await verify(await sign(change)), undefined))
  }

  test('rejects other keys, other algorithms and symmetric tricks', async () => {
    const other = await generateKeyPair('RS256')
    assert.equal(await verify(await sign({}, {}, other.privateKey)), undefined)
    assert.equal(await verify(await sign({}, { crit: ['x'], x: 1 }).catch(() => 'a.b.c')), undefined)
    const [, payload = ''] = (await sign()).split('.')
    for (const alg of ['none', 'None', 'nOnE', '', 5, undefined]) {
      const header = Buffer.from(JSON.stringify({ alg, kid: 'one' })).toString('base64url')
      assert.equal(await verify(`${header}.${payload}.`), undefined)
    }
    const header = Buffer.from(JSON.stringify({ alg: 'HS256', kid: 'one' })).toString('base64url')
    for (const secret of [await exportSPKI(publicKey), '']) {
      const mac = createHmac('sha256', secret).update(`${header}.${payload}`).digest('base64url')
      assert.equal(await verify(`${header}.${payload}.${mac}`), undefined)
    }
  })

  test('rejects malformed, encrypted and overlong tokens', async () => {
    const token = await sign()
    for (const text of [
      '',
      'a.b',
      `${token}.x.y`,
      `${token}=`,
      token.replaceAll('.', '..'),
      `x${token}`,
      `${token}${'a'.repeat(9000)}`,
    ]) {
      assert.equal(await verify(text), undefined)
    }
    const [head, payload] = token.split('.')
    assert.equal(await verify(`${head}.${payload}.`), undefined)
  })

  test('unknown key ids and places to fetch keys from cause no flood of fetches', async () => {
    const before = fetches
    for (let count = 0; count < 50; count++) {
      assert.equal(
        await verify(await sign({}, { kid: randomUUID(), jku: 'http://127.0.0.1:1/', x5u: 'http://127.0.0.1:1/' })),
        undefined,
      )
    }
    assert.ok(fetches - before <= 1, `${fetches - before} fetches`)
  })
})
