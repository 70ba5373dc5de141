import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeRivals, lostGraceMs, type Rival } from './claim.ts'
import {
  assumedProof,
  newProof,
  nextProof,
  type ProofMethod,
  type ProofState,
  pendingMs,
  serviceNameOf,
} from './proof.ts'

const now = new Date('2026-01-01T00:00:00Z')
const at = (ms: number) => new Date(now.getTime() + ms)
const missing = { missing: 'no record', isKnown: true } as const
const pauseOf = ({ next_ask_at }: ProofState, from: Date) => next_ask_at && next_ask_at.getTime() - from.getTime()
const proven = (method: ProofMethod): ProofState => ({ ...newProof(now, 'WAIVED'), proof: method })

test('an unproven domain is checked at growing intervals of at most 15 minutes, and released after a week', () => {
  let state = newProof(now, undefined)
  assert.equal(pauseOf(state, now), 0)
  const pauses: (number | null)[] = []
  for (let ask = 0; ask < 10; ask++) {
    state = nextProof(state, missing, false, now)
    pauses.push(pauseOf(state, now))
  }
  assert.deepEqual(pauses.slice(0, 4), [5_000, 10_000, 20_000, 40_000])
  assert.equal(pauses.at(-1), 900_000)
  assert.equal(pauseOf(nextProof({ ...state, asks: 5000 }, missing, false, now), now), 900_000)
  assert.equal(nextProof(state, missing, false, at(pendingMs)).next_ask_at, null)
})

test('a domain stays unproven with the reason when another organization has proven it', () => {
  const state = nextProof(newProof(now, undefined), { proven: 'CNAME' }, true, now)
  assert.equal(state.proof, null)
  assert.match(state.finding ?? '', /Another organization has proven this name/)
})

test('a proven domain is checked every twelve hours, a lost one every hour', () => {
  const again = nextProof(proven('CNAME'), { proven: 'TXT' }, false, at(1000))
  assert.deepEqual([again.proof, again.proven_at, pauseOf(again, at(1000))], ['TXT', now, 43_200_000])
  const lost = nextProof(again, missing, false, at(2000))
  assert.deepEqual([lost.proof, lost.lost_since, lost.finding], ['TXT', at(2000), 'no record'])
  assert.equal(pauseOf(lost, at(2000)), 3_600_000)
  assert.deepEqual(nextProof(lost, missing, false, at(3000)).lost_since, at(2000))
  const found = nextProof(lost, { proven: 'TXT' }, false, at(4000))
  assert.deepEqual([found.lost_since, found.finding], [null, null])
})

test('a domain loses nothing when DNS does not answer or it never had a record', () => {
  const unknown = { missing: 'late', isKnown: false } as const
  assert.equal(nextProof(proven('CNAME'), unknown, false, now).lost_since, null)
  assert.equal(nextProof(proven('BEFORE_REQUIRED'), missing, false, now).lost_since, null)
  assert.equal(nextProof(proven('BEFORE_REQUIRED'), { proven: 'CNAME' }, false, now).proof, 'CNAME')
})

test('names below localhost and test need no proof; others need one unless it is waived', () => {
  const answers = ['a.localhost', '*.b.test', 'a.test.org', 'localhost.org', 'a.internal'].map((name) =>
    assumedProof(name, 'required'),
  )
  assert.deepEqual(answers, ['NO_PUBLIC_DNS', 'NO_PUBLIC_DNS', undefined, undefined, undefined])
  assert.equal(assumedProof('a.org', 'waived'), 'WAIVED')
})

test('a host of a service is recognized by the eight digits of its id under any name', () => {
  const hosts = [
    'a-12345678.x.org',
    'admin-a-1234abcd.x.org',
    'b.a-12345678.x.org',
    '-12345678.x.org',
    'a-12345678.y.org',
    'a12345678.x.org',
    'a-1234567g.x.org',
  ]
  const read = hosts.map((host) => serviceNameOf(host))
  assert.deepEqual(read, [
    { digits: '12345678', domain: 'x.org' },
    { digits: '1234abcd', domain: 'x.org' },
    undefined,
    undefined,
    { digits: '12345678', domain: 'y.org' },
    undefined,
    undefined,
  ])
})

const rival = (domain: string, proof: ProofMethod, lost_since: Date | null = null): Rival => ({
  id: domain,
  service_id: '',
  domain,
  proof,
  lost_since,
})
const long = at(-lostGraceMs)
const judged: [string, ProofMethod, Rival, 'blocks' | 'yields'][] = [
  ['a.org', 'CNAME', rival('a.org', 'TXT'), 'blocks'],
  ['a.org', 'CNAME', rival('a.org', 'TXT', at(1 - lostGraceMs)), 'blocks'],
  ['a.org', 'CNAME', rival('a.org', 'TXT', long), 'yields'],
  ['a.org', 'CNAME', rival('*.a.org', 'BEFORE_REQUIRED'), 'yields'],
  ['*.a.org', 'TXT', rival('x.a.org', 'WAIVED'), 'yields'],
  ['x.a.org', 'TXT', rival('a.org', 'WAIVED'), 'blocks'],
  ['x.a.org', 'TXT', rival('*.a.org', 'CNAME', long), 'blocks'],
  ['a.org', 'WAIVED', rival('a.org', 'BEFORE_REQUIRED'), 'blocks'],
]
for (const [domain, proof, other, outcome] of judged) {
  test(`${other.domain} by ${other.proof}${other.lost_since ? ', lost' : ''} ${outcome} when ${domain} is proven by ${proof}`, () => {
    const { blocking, yielding } = judgeRivals(domain, proof, [other], now)
    assert.deepEqual([blocking, yielding], outcome === 'blocks' ? [other, []] : [undefined, [other]])
  })
}
