import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RunningState } from '@quayside/contract/resources/stream.ts'
import { environmentRunningState, serviceRunningState, toServiceStatus } from './running.ts'

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
  assert.equal(state('DEPLOYED', 'warning', [one(true)]), 'WARNING')
})

test('a pod tells when its program started; one that never did tells nothing', () => {
  const replica = { name: 'one', running: true, exits: 0, outOfMemory: false }
  const row = {
    environment_id: 'e',
    project_id: 'p',
    mode: 'PRODUCTION',
    id: 's',
    kind: 'container',
    name: 'app',
    state: 'DEPLOYED',
    observed_state: 'running',
    reason: null,
    release_id: 'r',
    action: 'DEPLOY',
    replicas: [{ ...replica, startedAt: '2026-01-01T00:00:01.500Z' }, replica],
  } as const
  const [environment] = toServiceStatus([row]).environments
  const { containers } = Object(environment)
  const at = Date.UTC(2026, 0, 1, 0, 0, 1, 500)
  assert.deepEqual(
    containers[0].pods.map((pod: { started_at: number; containers: { current_state: object }[] }) => [
      pod.started_at,
      pod.containers[0]?.current_state,
    ]),
    [
      [at, { state: 'RUNNING', started_at: at }],
      [null, { state: 'RUNNING', started_at: null }],
    ],
  )
})

test('a pod that runs tells what keeps it from being reached', () => {
  const row = {
    environment_id: 'e',
    project_id: 'p',
    mode: 'PRODUCTION',
    id: 's',
    kind: 'container',
    name: 'app',
    state: 'DEPLOYED',
    release_id: 'r',
    action: 'DEPLOY',
    replicas: [{ name: 'one', running: true, exits: 0, outOfMemory: false }],
  } as const
  const told = (observed_state: string, reason: string | null) => {
    const [environment] = toServiceStatus([{ ...row, observed_state, reason }]).environments
    const [{ state, pods }] = Object(environment).containers
    return [state, pods[0].state, pods[0].state_message]
  }
  assert.deepEqual(told('running', null), ['RUNNING', 'RUNNING', ''])
  assert.deepEqual(told('warning', 'its port is in use'), ['WARNING', 'RUNNING', 'its port is in use'])
})
