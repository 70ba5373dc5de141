import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RunningState } from '@quayside/contract/resources/stream.ts'
import { environmentRunningState, serviceRunningState } from './running.ts'

test('an environment runs as its services do', () => {
  const cases: [RunningState[], RunningState][] = [
    [[], 'STOPPED'],
    [['STOPPED', 'STOPPED'], 'STOPPED'],
    [['RUNNING', 'STOPPED'], 'RUNNING'],
    [['RUNNING', 'STARTING', 'ERROR'], 'STARTING'],
    [['RUNNING', 'ERROR'], 'WARNING'],
    [['ERROR', 'ERROR'], 'ERROR'],
  ]
  for (const [states, expected] of cases) assert.equal(environmentRunningState(states), expected, states.join())
})

test('a service is what was seen of it, unless it is being ended', () => {
  const one = (running: boolean) => ({ name: 'one', running, exits: 0, outOfMemory: false })
  const state = (deployment: 'DEPLOYED' | 'STOPPING', observed_state: string | null, replicas = [one(true)]) =>
    serviceRunningState({ state: deployment, observed_state, replicas })
  assert.equal(state('DEPLOYED', 'running'), 'RUNNING')
  assert.equal(state('STOPPING', 'running'), 'STOPPING')
  assert.equal(state('STOPPING', 'absent'), 'STOPPED')
  assert.equal(state('DEPLOYED', null, []), 'STOPPED')
  assert.equal(state('DEPLOYED', 'failing'), 'ERROR')
  assert.equal(state('DEPLOYED', 'failing', [one(true), one(false)]), 'WARNING')
})
