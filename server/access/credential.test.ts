import assert from 'node:assert/strict'
import { test } from 'node:test'
import { credentialReader, readToken } from './credential.ts'
import { hashSecret, mintToken } from './token.ts'

const pepper = Buffer.alloc(32, 1)
const asked: string[] = []
const read = credentialReader({
  pepper,
  verifyJwt: async (text) => {
    asked.push(text)
    return text === 'good.jwt.text' ? { issuer: 'https://id.example', subject: 'ada' } : undefined
  },
})

test('the form of the credential selects the only verifier, whatever the scheme', async () => {
  const { token, keyId, secret } = mintToken()
  for (const scheme of ['Bearer', 'Token', 'bearer', 'TOKEN']) {
    assert.deepEqual(await read(`${scheme} ${token}`), { kind: 'token', keyId, hash: hashSecret(pepper, secret) })
    const jwt = await read(`${scheme} good.jwt.text`)
    assert.deepEqual(jwt, { kind: 'jwt', issuer: 'https://id.example', subject: 'ada' })
  }
  assert.ok(!asked.some((text) => text.startsWith('quay_')))
})

test('an invalid API token is never verified as a JWT', async () => {
  const { token } = mintToken()
  assert.equal(await read(`Bearer ${token}x`), undefined)
  assert.ok(!asked.some((text) => text.startsWith('quay_')))
})

test('a header without a credential has none', async () => {
  for (const header of [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Basic eDp5',
    'Bearer a b',
    'Bearer\ta',
    'x',
    'Bearer \u00e9',
  ]) {
    assert.equal(await read(header), undefined, header)
  }
  assert.equal(await read('Bearer other.jwt.text'), undefined)
  assert.equal(readToken('quay_', pepper), undefined)
})
