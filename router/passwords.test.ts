import assert from 'node:assert/strict'
import { createHash, scryptSync } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { Duplex } from 'node:stream'
import { test } from 'node:test'
import { type BasicCredential, passwordCost } from '@quayside/contract/routes.ts'
import { until } from '../test/support/until.ts'
import { createLog } from './log.ts'
import { gives } from './password.ts'
import { headOf, portOf, testBed } from './test-bed.ts'

const { bytes, ...cost } = passwordCost
const salt = Buffer.alloc(16, 7)
const scrypted = (secret: string | Buffer): string =>
  `scrypt:${salt.toString('base64url')}:${scryptSync(secret, salt, bytes, cost).toString('base64url')}`
const basicAuth: readonly BasicCredential[] = [
  { login: 'ann', hash: scrypted('open sesame') },
  { login: 'ben', hash: `sha1-${scrypted(createHash('sha1').update('a:b ü').digest())}` },
  { login: 'cy', hash: '$apr1$4HxwgUir$q2zJWMiQ8SK2nWoVY4bv7/' },
]
const as = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString('base64')}` })

/**
 * A router with passwords in front of an application that upgrades, streams and echoes its headers.
 */
async function guarded(t: Parameters<typeof testBed>[0], name = 'shop') {
  const logged: string[] = []
  const bed = await testBed(t, { log: createLog((line) => logged.push(line)) })
  const asked: (string | undefined)[] = []
  const app = await bed.application(({ headers }, response) => {
    asked.push(headers.authorization)
    response.end('in')
  })
  app.on('upgrade', (_request, socket: Duplex) => {
    socket.on('error', () => socket.destroy())
    const accept = 'Sec-WebSocket-Accept: ICX+Yqv66kxgM0FcWaLWlFLwTAI='
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${accept}\r\n\r\n`)
  })
  await bed.lead([portOf(app)], { name, rules: { basicAuth } })
  return { ...bed, port: portOf(app), asked, logged }
}

test('a password matches the hashes of htpasswd and openssl', async () => {
  const made = {
    '$apr1$4HxwgUir$q2zJWMiQ8SK2nWoVY4bv7/': 'open sesame',
    '$apr1$r$5uJV37ZjPcZ/PtJwaF4Em1': 'a',
    '$apr1$QPNo0abc$.VYF27HToVnxpN/h4M8G6/': 'a rather long password, of more than sixteen bytes: ÄÖ',
  }
  for (const [hash, password] of Object.entries(made)) {
    assert.ok(await gives(Buffer.from(password), hash), password)
    assert.ok(!(await gives(Buffer.from(`${password} `), hash)), password)
  }
})

test('only requests with a valid password reach the application', async (t) => {
  const { ask, asked, lead, port, logged, state } = await guarded(t, 'Käse "und"')
  const refused = await ask()
  assert.equal(refused.status, 401)
  assert.equal(refused.headers['www-authenticate'], 'Basic realm="K?se \\"und\\"", charset="UTF-8"')
  const wrong = [
    'ann:open',
    'ann:',
    ':open sesame',
    'ben:open sesame',
    'dora:open sesame',
    'ann',
    `ann:${'a'.repeat(600)}`,
  ]
  for (const pair of wrong) assert.equal((await ask({ headers: as(pair) })).status, 401, pair)
  for (const authorization of ['Basic', 'Basic !', 'Bearer x', 'Digest ann:open sesame']) {
    assert.equal((await ask({ headers: { authorization } })).status, 401, authorization)
  }
  assert.deepEqual(asked, [])
  for (const pair of ['ann:open sesame', 'ben:a:b ü', 'cy:open sesame', 'ann:open sesame']) {
    assert.equal((await ask({ headers: as(pair) })).status, 200, pair)
  }
  assert.deepEqual(asked[0], as('ann:open sesame').authorization)
  for (const text of [logged.join(), await readFile(state, 'utf8')]) {
    assert.ok(!text.includes('sesame') && !text.includes(as('ann:open sesame').authorization.slice(6)))
  }
  // A removed password is not remembered.
  await lead([port], { rules: { basicAuth: [{ login: 'ann', hash: scrypted('another') }] } })
  assert.equal((await ask({ headers: as('ann:open sesame') })).status, 401)
})

test('an upgrade needs a password too', async (t) => {
  const { raw } = await guarded(t)
  const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n'
  const upgrade = `GET / HTTP/1.1\r\nHost: app.localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}`
  const refused = await headOf(raw(`${upgrade}\r\n`))
  assert.match(refused, /^HTTP\/1.1 401 [\s\S]*\r\nWWW-Authenticate: Basic realm="shop"/i)
  const [first] = await once(raw(`${upgrade}Authorization: ${as('cy:open sesame').authorization}\r\n\r\n`), 'data')
  assert.match(String(first), /^HTTP\/1.1 101 /)
})

test('the router limits wrong passwords and still accepts known valid ones', async (t) => {
  const { ask } = await guarded(t)
  assert.equal((await ask({ headers: as('ann:open sesame') })).status, 200)
  let busy: Awaited<ReturnType<typeof ask>> | undefined
  const isBusy = async (): Promise<boolean> => {
    busy = await ask({ headers: as('ann:wrong') })
    return busy.status === 429
  }
  await until('there were too many', isBusy)
  assert.equal(busy?.headers['retry-after'], '1')
  assert.equal((await ask({ headers: as('ann:open sesame') })).status, 200)
  assert.equal((await ask()).status, 401)
})

test('a CORS preflight needs no password', async (t) => {
  const { ask, lead } = await guarded(t)
  const cors = { origins: ['*'], methods: 'GET', headers: 'Authorization' }
  await lead([1], { rules: { basicAuth, cors } })
  const headers = { origin: 'https://shop.example', 'access-control-request-method': 'GET' }
  assert.equal((await ask({ method: 'OPTIONS', headers })).status, 204)
  assert.equal((await ask({ method: 'OPTIONS' })).status, 401)
})

test('a table with invalid password hashes is rejected, and the previous one stays', async (t) => {
  const { ask, tell } = await guarded(t)
  for (const bad of [[], [{ login: 'ann' }], [{ login: '', hash: scrypted('a') }], [{ login: 'ann', hash: 'plain' }]]) {
    const routes = [{ host: 'app.localhost', service: 's', name: 'shop', endpoints: [], rules: { basicAuth: bad } }]
    assert.equal((await tell('PUT', '/routes', { version: 9, routes })).status, 400, JSON.stringify(bad))
  }
  assert.equal((await ask()).status, 401)
})
