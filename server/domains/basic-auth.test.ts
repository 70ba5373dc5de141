import assert from 'node:assert/strict'
import { scryptSync } from 'node:crypto'
import { test } from 'node:test'
import { passwordCost } from '@quayside/contract/routes.ts'
import { credentialsOf } from './basic-auth.ts'

const { bytes, ...cost } = passwordCost
const isOf = (secret: string | Buffer, hash: string | undefined): boolean => {
  const [salt = '', given] = hash?.split(':').slice(1) ?? []
  return scryptSync(secret, Buffer.from(salt, 'base64url'), bytes, cost).toString('base64url') === given
}

test('pairs are read from lists and lines, and what is kept holds no password', () => {
  const apr1 = '$apr1$4HxwgUir$q2zJWMiQ8SK2nWoVY4bv7/'
  const digest = 'W8r/fyL/UzygmbNAjq2HbA67qac='
  const value = `ann:open sesame, ben:${apr1}\ncy:{SHA}${digest},, dora:{PLAIN}$2y$a:b,`
  const read = credentialsOf(value)
  assert.deepEqual(
    read.map(({ login }) => login),
    ['ann', 'ben', 'cy', 'dora'],
  )
  assert.ok(isOf('open sesame', read[0]?.hash))
  assert.equal(read[1]?.hash, apr1)
  assert.match(read[2]?.hash ?? '', /^sha1-scrypt:/)
  assert.ok(isOf(Buffer.from(digest, 'base64'), read[2]?.hash))
  assert.ok(isOf('$2y$a:b', read[3]?.hash))
  assert.ok(!JSON.stringify(read).includes('sesame') && !JSON.stringify(read).includes(digest))
  assert.notDeepEqual(credentialsOf(value)[0], read[0])
})

test('pairs that the router cannot check are rejected by their position, without their content', () => {
  const bad = {
    ' , \n': /^is empty$/,
    justapassword: /pair 1 is none/,
    'ann:fine,:justapassword': /pair 2 is none/,
    'ann:': /no password in pair 1/,
    'ann:fine,ben:$2y$05$justapassword': /\(pair 2: bcrypt\)\. Write the password itself, or what `htpasswd -nm`/,
    'ann:$6$justapassword': /an unknown hash/,
    'ann:{SSHA}justapassword': /an unknown hash/,
    'ann:{SHA}justapassword': /a broken \{SHA\}/,
    'ann:$apr1$justapassword': /a broken \$apr1\$/,
    [`ann:${'justapassword'.repeat(50)}`]: /more than 512 bytes in pair 1/,
    ['ann:a,'.repeat(101)]: /more than 100 logins/,
  }
  for (const [value, message] of Object.entries(bad)) {
    assert.throws(
      () => credentialsOf(value),
      (error: Error) => message.test(error.message) && !error.message.includes('justapassword'),
      value,
    )
  }
})
