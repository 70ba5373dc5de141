import assert from 'node:assert/strict'
import test from 'node:test'
import { issued } from '../test/support/issued.ts'
import { selfSigned } from '../test/support/self-signed.ts'
import { Certificates } from './certificates.ts'
import { createLog, silentLog } from './log.ts'

const named = (host: string) => ({ host, chain: selfSigned.cert, key: selfSigned.key })
const many = (count: number) => Array.from({ length: count }, (_, index) => named(`name-${index}.invalid`))

test('a million unknown names use no memory', () => {
  const certificates = new Certificates(silentLog)
  certificates.replace({ certificates: [named('outside.invalid')], challenges: [], mark: '' })
  const before = process.memoryUsage().heapUsed
  for (let index = 0; index < 1_000_000; index++) {
    assert.equal(certificates.contextFor(`name-${index}.invalid`), undefined)
  }
  assert.ok(process.memoryUsage().heapUsed - before < 64 * 1024 * 1024)
})

test('only the certificates that were used last stay prepared', () => {
  const certificates = new Certificates(silentLog, 2)
  certificates.replace({ certificates: many(3), challenges: [], mark: '' })
  const of = (index: number) => certificates.contextFor(`name-${index}.invalid`)
  const first = of(0)
  assert.ok(first)
  of(1)
  assert.equal(of(0), first)
  of(2)
  assert.equal(of(0), first)
  of(1)
  of(2)
  assert.notEqual(of(0), first)
})

test('a certificate that is unchanged stays prepared, and one that left is forgotten', () => {
  const certificates = new Certificates(silentLog)
  certificates.replace({ certificates: many(2), challenges: [], mark: '' })
  const first = certificates.contextFor('name-0.invalid')
  certificates.replace({ certificates: many(1), challenges: [], mark: '' })
  assert.equal(certificates.contextFor('name-0.invalid'), first)
  assert.equal(certificates.contextFor('name-1.invalid'), undefined)
})

test('a certificate without its key is refused and logged', () => {
  const lines: string[] = []
  const certificates = new Certificates(createLog((line) => lines.push(line)))
  certificates.replace({ certificates: [{ ...named('outside.invalid'), key: 'none' }], challenges: [], mark: '' })
  assert.equal(certificates.contextFor('outside.invalid'), undefined)
  assert.match(lines.join(), /certificate cannot be used/)
  assert.doesNotMatch(lines.join(), /PRIVATE/)
})

test('a program in front gets challenges of hosts without a valid certificate only', () => {
  const certificates = new Certificates(silentLog)
  const answer = issued.cert + issued.key
  const challenges = ['new.invalid', 'outside.invalid', 'broken.invalid'].map((host) => {
    return { kind: 'tls-alpn-01', host, token: 'abc', answer } as const
  })
  const broken = { ...named('broken.invalid'), chain: 'none' }
  certificates.replace({ certificates: [named('outside.invalid'), broken], challenges, mark: '' })
  assert.deepEqual(
    certificates.served.map(({ host, protocol }) => [host, protocol]),
    [
      ['outside.invalid', undefined],
      ['new.invalid', 'acme-tls/1'],
      ['broken.invalid', 'acme-tls/1'],
    ],
  )
  certificates.replace({ certificates: [named('outside.invalid')], challenges: [], mark: '' })
  assert.deepEqual(
    certificates.served.map(({ host }) => host),
    ['outside.invalid'],
  )
})
