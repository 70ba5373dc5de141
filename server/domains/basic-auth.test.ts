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

test('pairs are read from lists and lines, and what is kept holds no password', async () => {
  const apr1 = '$apr1$4HxwgUir$q2zJWMiQ8SK2nWoVY4bv7/'
  const digest = 'W8r/fyL/UzygmbNAjq2HbA67qac='
  const value = `ann:open sesame, ben:${apr1}\ncy:{SHA}${digest},, dora:{PLAIN}$2y$a:b,`
  const read = await credentialsOf(value, 'o')
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
  assert.notDeepEqual((await credentialsOf(value, 'o'))[0], read[0])
})

test('pairs that the router cannot check are rejected by their position, without their content', async () => {
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
    'ann:a,ben:b, ann:justapassword': /^has the same login in pair 1 and pair 3$/,
  }
  for (const [value, message] of Object.entries(bad)) {
    await assert.rejects(
      credentialsOf(value, 'o'),
      (error: Error) => message.test(error.message) && !error.message.includes('justapassword'),
      value,
    )
  }
})

test('a whole list of logins is hashed without a pause for others, and owners take turns', async () => {
  const list = (name: string): string => Array.from({ length: 100 }, (_, at) => `${name}${at}:${at}`).join()
  const ended: string[] = []
  const whole = credentialsOf(list('ann'), 'one').then(() => ended.push('one'))
  const next = credentialsOf('ben:b', 'two').then(() => ended.push('two'))
  let longestMs = 0
  let isOver = false
  const all = Promise.all([whole, next]).finally(() => {
    isOver = true
  })
  for (let last = performance.now(); !isOver; ) {
    await new Promise(setImmediate)
    const now = performance.now()
    longestMs = Math.max(longestMs, now - last)
    last = now
  }
  await all
  assert.deepEqual(ended, ['two', 'one'])
  assert.ok(longestMs < 150, `others waited ${longestMs} ms`)
})
