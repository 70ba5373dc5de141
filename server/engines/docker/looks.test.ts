import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContainerInfo } from './docker-api.ts'
import { KnownStates } from './known-states.ts'
import { Looks } from './looks.ts'
import { sampleState } from './sample-state.ts'
import type { Host } from './start.ts'

const { signal } = new AbortController()
const listed = (Id: string): ContainerInfo =>
  // Only the parts of the daemon's response that are read.
  ({ Id, State: 'running', Status: 'Up 2 minutes', NetworkSettings: { Networks: {} } }) as unknown as ContainerInfo

/** Looks at one container whose state `inspect` returns, in the daemon's words. */
function openLooks(inspect: () => object) {
  let nowMs = 0
  const daemon = { json: async () => ({ Id: 'c1', ...inspect() }) }
  const clock = { monotonic: () => nowMs, now: () => new Date(Date.UTC(2026, 0, 1) + nowMs) }
  // Only what a look uses.
  const host = { daemon, clock, events: { count: () => undefined } } as unknown as Host
  const looks = new Looks(host, new KnownStates())
  return {
    look: () => looks.all(async () => [listed('c1')], signal),
    pass: (ms: number) => (nowMs += ms),
  }
}

const inspected = (RestartCount = 0) => ({
  Name: '/app',
  RestartCount,
  Created: sampleState().createdAt,
  Config: { Image: 'app', Labels: { 'quayside.service': 's', 'quayside.release': 'r1', 'quayside.replicas': '1' } },
  State: { Status: 'running', Running: true, Pid: 1, StartedAt: '2026-01-01T00:00:00Z', FinishedAt: '' },
  HostConfig: { NanoCpus: 0, Memory: 0, RestartPolicy: { Name: 'unless-stopped' } },
  NetworkSettings: { Networks: {} },
})

test('a look returns the same observation of a service while its containers are unchanged', async () => {
  const bench = openLooks(() => inspected())
  const first = await bench.look()
  bench.pass(1_000)
  const second = await bench.look()
  assert.notEqual(second, first)
  assert.equal(second.get('s'), first.get('s'))
  bench.pass(30_000)
  assert.notEqual((await bench.look()).get('s'), first.get('s'), 'it was inspected again')
})

test('a look judges a service with many exits again, because it fails only while it is young', async () => {
  const bench = openLooks(() => inspected(3))
  const state = async () => Object((await bench.look()).get('s')).state
  assert.equal(await state(), 'failing')
  for (let seconds = 0; seconds < 61; seconds += 10) {
    bench.pass(10_000)
    await bench.look()
  }
  assert.notEqual(await state(), 'failing')
})
