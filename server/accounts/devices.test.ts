import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../lib/id.ts'
import { createDevices } from './devices.ts'

const pepper = Buffer.alloc(32, 1)
const devices = createDevices({ publicUrl: 'https://quayside.example.org', pepper })
const now = new Date('2030-01-01T00:00:00Z')
const [ada, bob] = [newId(), newId()]
const cookieOf = (header: string): string => header.split(';', 1)[0] ?? ''
const accountsOf = (cookie: string, at = now) => devices.of(cookie, at).map(({ account }) => account)

test('a browser remembers the accounts that signed in, the last ones of many', () => {
  const first = devices.remember(undefined, ada, now)
  assert.match(first, /^__Host-quayside-device=[^;]+; Path=\/; Max-Age=15552000; HttpOnly; SameSite=Lax; Secure$/)
  const both = cookieOf(devices.remember(cookieOf(first), bob, now))
  assert.deepEqual(accountsOf(both), [bob, ada])
  const again = cookieOf(devices.remember(both, ada, now))
  assert.deepEqual(devices.of(again, now).at(0), devices.of(cookieOf(first), now).at(0), 'it keeps its count')
  let many = again
  for (let count = 0; count < 9; count++) many = cookieOf(devices.remember(many, newId(), now))
  assert.equal(accountsOf(many).length, 4)
})

test('a cookie of another account, host or installation, changed or old, is none', () => {
  const cookie = cookieOf(devices.remember(undefined, ada, now))
  const foreign = createDevices({ publicUrl: 'https://quayside.example.org', pepper: Buffer.alloc(32, 2) })
  const wrong = [
    cookie.replace(ada, bob),
    cookie.replace('__Host-', ''),
    `\u00a0${cookie}`,
    `${cookie}x`,
    cookie.slice(0, -1),
    '__Host-quayside-device=',
    '__Host-quayside-device=~~~',
    cookieOf(foreign.remember(undefined, ada, now)),
  ]
  for (const one of wrong) assert.deepEqual(accountsOf(one), [], one)
  assert.deepEqual(accountsOf(cookie, new Date('2030-07-01T00:00:00Z')), [])
  assert.deepEqual(accountsOf(`a=1; ${cookie}; b=2`), [ada])
})
