import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { hashSecret, mintToken, parseToken, sameHash } from './token.ts'

test('a new token has its own form and can be split into its parts', () => {
  const { token, keyId, secret } = mintToken()
  assert.match(token, /^quay_[0-9A-Za-z]{16}_[0-9A-Za-z]{49}$/)
  assert.deepEqual(parseToken(token), { keyId, secret })
  assert.notEqual(mintToken().token, token)
})

test('a token with any changed, added or removed character is invalid', () => {
  const { token } = mintToken()
  for (let position = 0; position < token.length; position++) {
    const other = token[position] === 'x' ? 'y' : 'x'
    assert.equal(parseToken(token.slice(0, position) + other + token.slice(position + 1)), undefined, `${position}`)
    assert.equal(parseToken(token.slice(0, position) + token.slice(position + 1)), undefined)
  }
  for (const text of [`${token}0`, ` ${token}`, `${token}\n`, token.toUpperCase(), '', 'quay_']) {
    assert.equal(parseToken(text), undefined)
  }
})

test('the stored digest depends on the pepper and on the whole secret', () => {
  const [one, two] = [randomBytes(32), randomBytes(32)]
  assert.ok(sameHash(hashSecret(one, 'secret'), hashSecret(one, 'secret')))
  assert.ok(!sameHash(hashSecret(one, 'secret'), hashSecret(two, 'secret')))
  assert.ok(!sameHash(hashSecret(one, 'secret'), hashSecret(one, 'secre')))
  assert.ok(!sameHash(hashSecret(one, 'secret'), Buffer.alloc(0)))
})
