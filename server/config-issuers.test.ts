import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issuers } from './config-issuers.ts'

const entry = { issuer: 'https://login.example.org/', audience: 'quayside', jwksUrl: 'https://login.example.org/keys' }
const read = (signIn: unknown, issuer = entry.issuer) => issuers(JSON.stringify([{ ...entry, issuer, signIn }]))[0]

test('an issuer without signIn only has its tokens accepted', () => {
  assert.equal(read(undefined)?.signIn, undefined)
})

test('an issuer at which people sign in has a client, and the name of its host by default', () => {
  assert.deepEqual(read({ clientId: 'a' })?.signIn, { clientId: 'a', name: 'login.example.org' })
  const all = { clientId: 'a', name: 'Example', clientSecretFile: '/etc/secret' }
  assert.deepEqual(read(all)?.signIn, all)
  assert.ok(read({ clientId: 'a' }, 'http://localhost:9000')?.signIn)
  assert.ok(read({ clientId: 'a' }, 'http://127.0.0.1')?.signIn)
})

test('a sign-in without a client, with a bad name, or over plain HTTP elsewhere is refused', () => {
  const wrong: readonly [unknown, RegExp, string?][] = [
    [{}, /signIn needs a clientId/],
    [null, /signIn needs a clientId/],
    [{ clientId: 'a', name: 'x'.repeat(61) }, /name must be/],
    [{ clientId: 'a', clientSecretFile: 7 }, /path of a file/],
    [{ clientId: 'a' }, /must begin with https/, 'http://login.example.org/'],
    [{ clientId: 'a' }, /must begin with https/, 'http://localhost.example.org/'],
    [{ clientId: 'a' }, /must begin with https/, 'http://localhost@example.org/'],
  ]
  for (const [signIn, message, issuer] of wrong) assert.throws(() => read(signIn, issuer), message)
})
