import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Observation, Replica } from '../engines/index.ts'
import { decideRepair, judge, liveEndpoints, mostReplicasOf } from './decide.ts'

const replica = (release: string, change: Partial<Replica> = {}): Replica => ({
  name: `${release}-1`,
  release,
  running: true,
  image: 'image',
  exits: 0,
  outOfMemory: false,
  endpoints: [{ replica: `${release}-1`, port: 8080, address: '10.0.0.1' }],
  ...change,
})
type Present = Exclude<Observation, { state: 'absent' }>
const seen = (state: Present['state'], replicas: Replica[], reason?: string): Observation => ({
  state,
  release: replicas[0]?.release ?? '',
  replicas,
  ...(reason === undefined ? {} : { reason }),
})
const down = { running: false, endpoints: [] }
const absent: Observation = { state: 'absent' }
const start = { kind: 'start', release: 'new' } as const

/** The desired number of replicas follows each case. Default 1. */
const cases: [string, string | null, Observation, ReturnType<typeof decideRepair>, number?][] = [
  ['nothing is desired and nothing runs', null, absent, undefined],
  [
    'nothing is wished and something runs',
    null,
    seen('running', [replica('old')]),
    { kind: 'retire', keep: undefined },
  ],
  [
    'nothing is wished and something is stopped',
    null,
    seen('stopped', [replica('old', down)]),
    { kind: 'retire', keep: undefined },
  ],
  ['the wished release runs', 'new', seen('running', [replica('new')]), undefined],
  ['the wished release is gone', 'new', absent, start],
  ['only another release runs', 'new', seen('running', [replica('old')]), start],
  [
    'another release runs beside it',
    'new',
    seen('running', [replica('new'), replica('old')]),
    { kind: 'retire', keep: 'new' },
  ],
  ['it was stopped by hand', 'new', seen('stopped', [replica('new', down)]), start],
  ['one replica of two was removed', 'new', seen('starting', [replica('new')], '1 of 2 replicas is missing'), start, 2],
  [
    'it exits again and again, which the engine deals with',
    'new',
    seen('failing', [replica('new', { ...down, exits: 4 })], 'exited with code 1, 4 times'),
    undefined,
  ],
  [
    'it is on its way up after an exit',
    'new',
    seen('starting', [replica('new'), replica('new', { ...down, exits: 1 })]),
    undefined,
    2,
  ],
  ['it sleeps and nothing runs', 'new', { state: 'stopped', release: 'new', replicas: [] }, undefined, 0],
  ['it sleeps and another release runs', 'new', seen('running', [replica('old')]), { kind: 'retire', keep: 'new' }, 0],
]

for (const [what, wanted, observation, expected, replicas = 1] of cases) {
  test(`${what}: ${expected?.kind ?? 'nothing'} to be done`, () => {
    assert.deepEqual(decideRepair({ release_id: wanted, replicas }, observation), expected)
  })
}

test('traffic goes to running replicas of the wished release alone', () => {
  const mixed = seen('running', [replica('old'), replica('new'), replica('new', { name: 'new-2', ...down })])
  assert.deepEqual(
    liveEndpoints('new', mixed).map((endpoint) => endpoint.replica),
    ['new-1'],
  )
  assert.deepEqual(liveEndpoints('new', absent), [])
})

const numbered = (...numbers: number[]) => numbers.map((number) => replica('new', { name: `new-${number}` }))

test('an engine that scales by load decides how many replicas there are above the least', () => {
  const wish = { release_id: 'new', replicas: 2, may_scale: true }
  const most = mostReplicasOf(wish, { scalesByLoad: true })
  const four = seen('starting', numbered(1, 2, 3, 4), '1 of 5 replicas is missing')
  assert.equal(decideRepair(wish, judge(wish, four), most), undefined)
  assert.equal(judge(wish, four).state, 'running')
  assert.equal(liveEndpoints('new', four, most).length, 4)
  const one = judge(wish, seen('running', numbered(1)))
  assert.deepEqual(one.state !== 'absent' && [one.state, one.reason], ['starting', '1 of 2 replicas is missing'])
  assert.deepEqual(decideRepair(wish, one, most), start)
  const asleep = { ...wish, replicas: 0 }
  assert.equal(decideRepair(asleep, four, mostReplicasOf(asleep, { scalesByLoad: true }))?.kind, 'shrink')
  const fixed = { ...wish, may_scale: false }
  assert.equal(decideRepair(fixed, four, mostReplicasOf(fixed, { scalesByLoad: true }))?.kind, 'shrink')
  assert.equal(decideRepair(wish, four, mostReplicasOf(wish, { scalesByLoad: false }))?.kind, 'shrink')
})

test('of more replicas than there should be, the latest leave, those that do not run before all others', () => {
  const seen3 = seen('running', [...numbered(10, 2), replica('new', { name: 'new-1', ...down })])
  const repair = decideRepair({ release_id: 'new', replicas: 1 }, seen3)
  assert.deepEqual(repair?.kind === 'shrink' && repair.leaving.map(({ name }) => name), ['new-10', 'new-1'])
  assert.deepEqual(liveEndpoints('new', seen('running', numbered(10, 2)), 1), numbered(2)[0]?.endpoints)
})

test('how many there should be is the wish, not what an engine remembers', () => {
  const wish = (replicas: number) => ({ release_id: 'new', replicas })
  const of = (replicas: number, observation: Observation) => {
    const { state, reason } = { reason: undefined, ...judge(wish(replicas), observation) }
    return [state, reason]
  }
  assert.deepEqual(of(3, seen('running', numbered(1, 2))), ['starting', '1 of 3 replicas is missing'])
  assert.deepEqual(of(1, seen('starting', numbered(1), '1 of 2 replicas is missing')), ['running', undefined])
  assert.deepEqual(of(0, absent), ['stopped', undefined])
  assert.deepEqual(of(1, absent), ['absent', undefined])
  assert.deepEqual(of(1, seen('failing', numbered(1), 'exited')), ['failing', 'exited'])
})
