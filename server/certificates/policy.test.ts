import assert from 'node:assert/strict'
import test from 'node:test'
import { isCertifiable, letsEncrypt, renewalAt, renewalIn, retryAt } from './policy.ts'

const now = new Date('2026-03-01T00:00:00Z')
const dayMs = 86_400_000
const later = (days: number): Date => new Date(now.getTime() + days * dayMs)
const names = Array.from({ length: 200 }, (_, index) => `name-${index}.example.org`)

test('a certificate is renewed at two thirds of its life, and hosts of the same age take turns', () => {
  const times = names.map((name) => renewalAt(name, { notBefore: now, notAfter: later(90), orderedAt: now }).getTime())
  assert.ok(Math.max(...times) <= later(60).getTime())
  assert.ok(Math.min(...times) >= later(55.5).getTime())
  assert.ok(new Set(times).size > 190)
  const [name = ''] = names
  const again = renewalAt(name, { notBefore: now, notAfter: later(90), orderedAt: now }).getTime()
  assert.equal(again, times[0])
})

test('pauses grow with failures, and the authority may ask for a longer one', () => {
  const minutes = (failures: number, seconds?: number): number =>
    Math.floor((retryAt('a.example.org', failures, now, seconds).getTime() - now.getTime()) / 60_000 / 1.1)
  const pauses = [1, 2, 3, 4, 5, 6, 7, 8, 100].map((failures) => minutes(failures))
  assert.deepEqual(
    pauses,
    pauses.toSorted((one, other) => one - other),
  )
  assert.ok(minutes(8) <= 720 && minutes(100) >= 600)
  assert.ok(minutes(1, 7200) >= 100)
  assert.ok(minutes(1, 10 ** 9) <= 14 * 24 * 60)
})

test('five failures of a name take more than an hour', () => {
  let at = now
  for (let failures = 1; failures <= 5; failures++) at = retryAt('a.example.org', failures, at)
  assert.ok(at.getTime() - now.getTime() > 3_600_000)
})

test("Let's Encrypt is asked for names of the public DNS only", () => {
  const asked = (name: string, directory = letsEncrypt) => isCertifiable(name, directory)
  assert.ok(asked('shop.example.org') && asked('localhost.example.org'))
  for (const name of ['shop.localhost', 'shop.lab.test', 'nas.local', 'db.internal', 'shop', '*.example.org']) {
    assert.ok(!asked(name), name)
  }
  const own = 'https://ca.internal/acme/directory'
  assert.ok(asked('db.internal', own) && asked('shop.lab.test', own))
  assert.ok(!asked('shop.localhost', own) && !asked('*.lab.test', own))
})

test('a certificate is renewed in the window of the authority, and not within its first six hours', () => {
  const at = (start: number, end: number): number =>
    renewalIn(
      'shop.example.org',
      { start: later(start), end: later(end) },
      { notBefore: now, notAfter: later(90), orderedAt: now },
    ).getTime()
  assert.ok(at(10, 11) >= later(10).getTime() && at(10, 11) <= later(11).getTime())
  assert.equal(at(-2, -1), later(0.25).getTime())
  assert.equal(at(100, 101), later(81).getTime())
  const early = { notBefore: later(-90), notAfter: now, orderedAt: now }
  assert.equal(renewalAt('shop.example.org', early).getTime(), later(0.25).getTime())
  const short = { notBefore: now, notAfter: later(0.1), orderedAt: now }
  assert.equal(
    renewalIn('shop.example.org', { start: later(-2), end: later(-1) }, short).getTime(),
    later(0.01).getTime(),
  )
})
