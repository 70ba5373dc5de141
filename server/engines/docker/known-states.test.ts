import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContainerInfo } from './docker-api.ts'
import { isLongUp, KnownStates } from './known-states.ts'
import { sampleState } from './sample-state.ts'

const listed = (Status: string, IPAddress = '172.18.0.2', State = 'running'): ContainerInfo =>
  // Only the parts of the daemon's response that are read.
  ({ Id: 'c1', State, Status, NetworkSettings: { Networks: { n: { IPAddress } } } }) as unknown as ContainerInfo

test('isLongUp accepts containers that are up for a minute or more, but no younger or paused ones', () => {
  for (const status of ['Up About a minute', 'Up 2 minutes', 'Up About an hour', 'Up 5 hours', 'Up 3 weeks']) {
    assert.equal(isLongUp(listed(status)), true, status)
  }
  for (const status of [
    'Up 59 seconds',
    'Up Less than a second',
    'Up 1 second',
    'Up 2 hours (Paused)',
    'Created',
    '',
  ]) {
    assert.equal(isLongUp(listed(status)), false, status)
  }
  assert.equal(isLongUp(listed('Up 2 minutes', '', 'restarting')), false)
})

test('a container is inspected again after a restart, at another address, and after a long gap between looks', () => {
  const states = new KnownStates()
  const state = sampleState()
  const learn = (): void => states.keep([{ listed: listed('Up 2 minutes'), state }])
  states.begin(0, false)
  assert.equal(states.find(listed('Up 2 minutes')), undefined)
  learn()
  states.begin(1_000, false)
  assert.equal(states.find(listed('Up 3 minutes')), state)
  assert.equal(states.find(listed('Up 1 second')), undefined)
  assert.equal(states.find(listed('Up 2 minutes', '172.18.0.9')), undefined)
  states.begin(60_000, false)
  assert.equal(states.find(listed('Up 3 minutes')), undefined)
})

test('a container is inspected again after an event', () => {
  const states = new KnownStates()
  const seen = { listed: listed('Up 2 hours'), state: sampleState() }
  for (const id of ['c1', undefined]) {
    states.begin(0, false)
    states.keep([seen])
    states.forget('c2')
    assert.equal(states.find(seen.listed), seen.state)
    states.forget(id)
    assert.equal(states.find(seen.listed), undefined)
  }
})

test('with events, the state of a young container is known, too, unless an event arrived during the look', () => {
  const states = new KnownStates()
  const seen = { listed: listed('Up 2 seconds'), state: sampleState() }
  states.begin(0, true)
  states.keep([seen])
  states.begin(1_000, true)
  assert.equal(states.find(seen.listed), seen.state)
  assert.equal(states.find(listed('Up 2 seconds', '172.18.0.9')), undefined)
  assert.equal(states.find(listed('Up 2 hours (Paused)', '172.18.0.2', 'paused')), undefined)
  for (const id of ['c1', undefined]) {
    states.begin(2_000, true)
    states.forget(id)
    states.keep([seen])
    assert.equal(states.find(seen.listed), undefined)
  }
  states.begin(3_000, true)
  states.keep([seen])
  states.begin(4_000, false)
  assert.equal(states.find(seen.listed), undefined)
})

test('an unchanged container is inspected again within minutes, in case an event was lost', () => {
  const states = new KnownStates()
  const seen = { listed: listed('Up 2 hours'), state: sampleState() }
  let asked = 0
  for (let at = 0; at <= 720_000; at += 1_000) {
    states.begin(at, false)
    if (!states.find(seen.listed)) {
      asked++
      // A new inspection returns another object than the cached one.
      seen.state = sampleState()
    }
    states.keep([seen])
  }
  assert.ok(asked >= 3 && asked <= 6, `${asked} times in twelve minutes`)
})
