import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  keyIdOf,
  newSealingKey,
  open,
  type SealContext,
  SealError,
  type SealFailure,
  seal,
  sealingKey,
  unwrapKey,
  wrapKey,
} from './seal.ts'

const context: SealContext = { organization: 'o1', table: 'variable', row: 'r1', column: 'sealed_value' }
const failsWith = (reason: SealFailure) => (error: unknown) => error instanceof SealError && error.reason === reason

test('a sealed text opens to the same bytes', () => {
  const key = newSealingKey()
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.equal(open(key, context, seal(key, context, text)).reveal(), text)
    }),
  )
})

test('a text of 40 MiB is sealed and opened, and its key is found', () => {
  const key = newSealingKey()
  const text = 'state '.repeat(7 * 2 ** 20)
  const sealed = seal(key, context, text)
  assert.equal(keyIdOf(sealed), key.id)
  assert.ok(open(key, context, sealed).reveal() === text)
  assert.throws(() => open(key, context, `${sealed}!`), failsWith('malformed'))
})

test('a sealed text has the documented form and never repeats', () => {
  const key = newSealingKey()
  const texts = new Set(Array.from({ length: 1000 }, () => seal(key, context, 'the same')))
  assert.equal(texts.size, 1000)
  for (const text of texts) assert.match(text, /^v1\.[\w-]{11}\.[\w-]{16}\.[\w-]+$/)
  assert.equal(keyIdOf([...texts][0] ?? ''), key.id)
})

test('a key id depends on the bytes and does not contain them', () => {
  const bytes = Buffer.alloc(32, 7)
  assert.equal(sealingKey(bytes).id, sealingKey(Buffer.from(bytes)).id)
  assert.notEqual(sealingKey(bytes).id, sealingKey(Buffer.alloc(32, 8)).id)
  assert.throws(() => sealingKey(Buffer.alloc(31)), RangeError)
})

test('a sealed text does not open in another organization, table, row or column', () => {
  const key = newSealingKey()
  const sealed = seal(key, context, 'text')
  for (const part of ['organization', 'table', 'row', 'column'] as const)
    assert.throws(() => open(key, { ...context, [part]: 'other' }, sealed), failsWith('not-authentic'))
})

test('opening distinguishes another key from a damaged text', () => {
  const sealed = seal(newSealingKey(), context, 'text')
  assert.throws(() => open(newSealingKey(), context, sealed), failsWith('other-key'))
})

test('a sealed text does not open when any character is changed', () => {
  const key = newSealingKey()
  const sealed = seal(key, context, 'some text')
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  fc.assert(
    fc.property(fc.nat(sealed.length - 1), fc.constantFrom(...alphabet), (at, character) => {
      const changed = sealed.slice(0, at) + character + sealed.slice(at + 1)
      // The last character is left out: its low bits carry nothing.
      fc.pre(changed !== sealed && at < sealed.length - 1)
      assert.throws(() => open(key, context, changed), SealError)
    }),
  )
})

test('opening reports text that is not sealed as malformed', () => {
  const key = newSealingKey()
  for (const text of ['', 'v1', 'v1...', 'v2.AAAAAAAAAAA.AAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAA', 'plain text'])
    assert.throws(() => open(key, context, text), failsWith('malformed'))
  assert.equal(keyIdOf('plain text'), undefined)
})

test('a data key opens only for its organization and by its master key', () => {
  const masterKey = newSealingKey()
  const dataKey = newSealingKey()
  const wrapped = wrapKey(masterKey, 'o1', dataKey)
  assert.deepEqual(unwrapKey(masterKey, 'o1', wrapped), dataKey)
  assert.throws(() => unwrapKey(masterKey, 'o2', wrapped), failsWith('not-authentic'))
  assert.throws(() => unwrapKey(newSealingKey(), 'o1', wrapped), failsWith('other-key'))
})

test('sealing rejects an ambiguous context', () => {
  assert.throws(() => seal(newSealingKey(), { ...context, row: 'a|b' }, 'text'), RangeError)
})

test('an opened text does not show in logs or JSON', () => {
  const key = newSealingKey()
  const secret = open(key, context, seal(key, context, 'hidden'))
  assert.equal(`${secret} ${JSON.stringify({ secret })}`.includes('hidden'), false)
})
