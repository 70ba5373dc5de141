import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { masker } from './masker.ts'
import { Secret } from './secret.ts'

const secret = 'pa55/w"ö?rd+ç x=~9'
const bytes = Buffer.from(secret)
const mask = masker([new Secret(secret)])
const hidden = (text: string): void => assert.equal(mask(`before ${text} after`), 'before ****** after', text)

test('the masker leaves a text without secrets unchanged', () => {
  assert.equal(mask('before after'), 'before after')
  assert.equal(masker([new Secret('short')])('short'), 'short')
})

test('the masker hides a secret in plain form, in any case, and escaped as in JSON', () => {
  for (const text of [secret, secret.toUpperCase(), JSON.stringify(secret).slice(1, -1)]) hidden(text)
  hidden('pa55\\/w\\"\\u00f6?rd+\\u00E7 x=~9')
})

test('a secret is hidden URL-encoded, in part, whole, and in either case', () => {
  const url = encodeURIComponent(secret)
  const every = bytes.toString('hex').replace(/../g, '%$&')
  for (const text of [url, url.toLowerCase(), url.replaceAll('%20', '+'), every, every.toUpperCase()]) hidden(text)
})

test('a secret is hidden as hex in either case', () => {
  hidden(bytes.toString('hex'))
  hidden(bytes.toString('hex').toUpperCase())
})

test('a secret is hidden in base64 of both alphabets, at any offset among other bytes', () => {
  for (const encoding of ['base64', 'base64url'] as const) {
    for (const before of ['', 'a', 'ab', 'abc', 'user:']) {
      for (const after of ['', 'z', 'zz', '\n']) {
        const whole = Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]).toString(encoding)
        const left = mask(whole)
        assert.match(left, /^[\w+/-]{0,9}\*{6}[\w+/=-]{0,8}$/, `${whole} became ${left}`)
      }
    }
  }
})

test('base64 that is broken into lines is hidden line by line', () => {
  const key = Buffer.from(Array.from({ length: 400 }, (_, index) => (index * 7919) % 251)).toString('latin1')
  const hide = masker([new Secret(key)])
  for (const length of [64, 76]) {
    const lines =
      Buffer.from(key)
        .toString('base64')
        .match(new RegExp(`.{1,${length}}`, 'g')) ?? []
    for (const line of lines.slice(0, -1)) assert.equal(hide(line), '******')
  }
})

test('the masker hides each line of a multi-line secret, and a beginning that is cut off', () => {
  const key = `-----BEGIN KEY-----\r\n${'abcdefgh12'.repeat(6)}\r\n-----END KEY-----`
  const hide = masker([new Secret(key)])
  for (const line of key.split('\r\n')) assert.equal(hide(`> ${line}`), '> ******')
  assert.equal(hide('abcdefgh12'.repeat(4)), '******')
})

test('the masker hides overlapping secrets completely', () => {
  const hide = masker([new Secret('abcdefgh'), new Secret('efghijkl'), new Secret('abcdefghijklmnop')])
  assert.equal(hide('xabcdefghijklz'), 'x******z')
  assert.equal(hide('abcdefghijklmnopq'), '******q')
})

test('the masker leaves no secret of six characters, in any case, in random texts', () => {
  const short = fc.string({ unit: fc.constantFrom('a', 'b', 'B', '1'), minLength: 6, maxLength: 80 })
  fc.assert(
    fc.property(fc.array(short, { minLength: 1, maxLength: 5 }), fc.array(short, { maxLength: 5 }), (all, noise) => {
      const line = [...noise, ...all, ...noise].join('-')
      const left = masker(all.map((text) => new Secret(text)))(line).toLowerCase()
      for (const text of all) assert.ok(!left.includes(text.toLowerCase()), `${text} is left in ${left}`)
    }),
  )
})

/**
 * Returns the least processor time of seven runs in milliseconds. Other programs on the machine
 * lengthen the time that passes far more.
 */
function quickest(work: () => void): number {
  const once = (): number => {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
  return Math.min(...Array.from({ length: 7 }, once))
}

test('masking takes linear time, also when secrets and texts repeat themselves', () => {
  const secrets = Array.from({ length: 200 }, (_, index) => new Secret(`${'a'.repeat(1000)}${index}`))
  const hide = masker(secrets)
  const [small, large] = ['a'.repeat(100_000), 'a'.repeat(800_000)]
  const growth = quickest(() => hide(large)) / quickest(() => hide(small))
  assert.ok(growth < 24, `eight times the text took ${growth} times as long`)
})

test('masking a line is as fast with five hundred secrets', () => {
  const secrets = Array.from(
    { length: 500 },
    (_, index) => new Secret(`secret-${index * 7919}-${'k'.repeat(index % 40)}`),
  )
  const hide = masker(secrets)
  const line =
    'GET /api/v1/orders 200 12 ms user=4711 trace=0af7651916cd43dd8448eb211c80319c referer=https://shop.example/basket?'
  const ms = quickest(() => {
    for (let count = 0; count < 20_000; count++) hide(`${line}${count}`)
  })
  assert.ok(ms < 2000, `20,000 lines took ${ms} ms`)
})
