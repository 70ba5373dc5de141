import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Observation, Replica } from '../engines/index.ts'
import { decideRepair, liveEndpoints } from './decide.ts'

const replica = (release: string, change: Partial<Replica> = {}): Replica => ({
  name: `${release}-1`,
  release,
  running: true,
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

const cases: [string, string | null, Observation, ReturnType<typeof decideRepair>][] = [
  ['nothing is wished and nothing runs', null, absent, undefined],
  ['nothing is wished and something runs', null, seen('running', [replica('old')]), { kind: 'retire', keep: undefined }],
  ['nothing is wished and something is stopped', null, seen('stopped', [replica('old', down)]), { kind: 'retire', keep: undefined }],
  ['the wished release runs', 'new', seen('running', [replica('new')]), undefined],
  ['the wished release is gone', 'new', absent, start],
  ['only another release runs', 'new', seen('running', [replica('old')]), start],
  ['another release runs beside it', 'new', seen('running', [replica('new'), replica('old')]), { kind: 'retire', keep: 'new' }],
  ['it was stopped by hand', 'new', seen('stopped', [replica('new', down)]), start],
  ['one replica of two was removed', 'new', seen('starting', [replica('new')], '1 of 2 replicas is missing'), start],
  ['it exits again and again, which the engine deals with', 'new', seen('failing', [replica('new', { ...down, exits: 4 })], 'exited with code 1, 4 times'), undefined],
  ['it is on its way up after an exit', 'new', seen('starting', [replica('new'), replica('new', { ...down, exits: 1 })]), undefined],
] // biome-ignore format: one line a case

for (const [what, wanted, observation, expected] of cases) {
  test(`${what}: ${expected?.kind ?? 'nothing'} to be done`, () => {
    assert.deepEqual(decideRepair(wanted, observation), expected)
  })
}

test('traffic goes to running replicas of the wished release alone', () => {
  const mixed = seen('running', [replica('old'), replica('new'), replica('new', { name: 'new-2', ...down })])
  assert.deepEqual(liveEndpoints('new', mixed).map((endpoint) => endpoint.replica), ['new-1'])
  assert.deepEqual(liveEndpoints('new', absent), [])
}) // biome-ignore format: one line
