import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RunningState } from '@quayside/contract/resources/stream.ts'
import { observedStates } from '@quayside/contract/running-states.ts'
import { toPod } from './pods.ts'
import { environmentRunningState, serviceRunningState, toServiceStatus } from './running.ts'
import type { ReplicaRow } from './running-store.ts'

/** A deployed container without an observation. */
const deployed = {
  environment_id: 'e',
  project_id: 'p',
  mode: 'PRODUCTION',
  id: 's',
  kind: 'container',
  name: 'app',
  state: 'DEPLOYED',
  release_id: 'r',
  action: 'DEPLOY',
  stack_action: null,
  runs: null,
} as const

test('the state of an environment follows its services', () => {
  const cases: [RunningState[], RunningState][] = [
    [[], 'STOPPED'],
    [['STOPPED', 'STOPPED'], 'STOPPED'],
    [['RUNNING', 'STOPPED'], 'RUNNING'],
    [['RUNNING', 'STARTING', 'ERROR'], 'STARTING'],
    [['RUNNING', 'ERROR'], 'WARNING'],
    [['ERROR', 'ERROR'], 'ERROR'],
    [['COMPLETED', 'STOPPED'], 'COMPLETED'],
    [['COMPLETED', 'RUNNING'], 'RUNNING'],
    [['COMPLETED', 'ERROR'], 'WARNING'],
  ]
  for (const [states, expected] of cases) assert.equal(environmentRunningState(states), expected, states.join())
})

test('the state of a service is its observation, unless it is being ended', () => {
  const one = (running: boolean) => ({ name: 'one', running, image: 'image', exits: 0, outOfMemory: false })
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

test('a pod shows when its program started, and nothing if it never did', () => {
  const replica = { name: 'one', running: true, image: 'image', exits: 0, outOfMemory: false }
  const row = {
    ...deployed,
    observed_state: 'running',
    reason: null,
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
      [at, { state: 'RUNNING', started_at: at, state_reason: '', state_message: '' }],
      [null, { state: 'RUNNING', started_at: null, state_reason: '', state_message: '' }],
    ],
  )
})

test('a pod that runs tells what keeps it from being reached', () => {
  const row = {
    ...deployed,
    replicas: [{ name: 'one', running: true, image: 'image', exits: 0, outOfMemory: false }],
  } as const
  const told = (observed_state: string, reason: string | null) => {
    const [environment] = toServiceStatus([{ ...row, observed_state, reason }]).environments
    const [{ state, pods }] = Object(environment).containers
    return [state, pods[0].state, pods[0].state_reason, pods[0].state_message]
  }
  assert.deepEqual(told('running', null), ['RUNNING', 'RUNNING', '', ''])
  assert.deepEqual(told('warning', 'its port is in use'), ['WARNING', 'RUNNING', 'Unreachable', 'its port is in use'])
})

test('a pod whose program never ended is running, also beside a failing one; one between two ends is not', () => {
  const replica = { name: 'one', running: true, image: 'image', exits: 0, outOfMemory: false }
  const replicas = [replica, { ...replica, running: false, exits: 3, exitCode: 1 }, { ...replica, exits: 3 }]
  const row = { ...deployed, observed_state: 'failing', reason: 'exited with code 1, 3 times', replicas } as const
  const [environment] = toServiceStatus([row]).environments
  const { pods } = Object(environment).containers[0]
  assert.deepEqual(
    pods.map((pod: { state: string; state_message: string }) => [pod.state, pod.state_message]),
    [
      ['RUNNING', ''],
      ['ERROR', row.reason],
      ['ERROR', row.reason],
    ],
  )
})

test('a pod whose program ended shows how and when it ended and its image, as a code and as text', () => {
  const row = {
    ...deployed,
    observed_state: 'failing',
    reason: 'exited with code 3, 4 times\nno such table',
  } as const
  const replica = { name: 'one', running: false, image: 'app@sha256:1', exits: 4, outOfMemory: false }
  const podOf = (change: Partial<ReplicaRow>) => {
    const [environment] = toServiceStatus([{ ...row, replicas: [{ ...replica, ...change }] }]).environments
    return Object(environment).containers[0].pods[0]
  }
  const [startedAt, finishedAt] = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:05.000Z']
  const pod = podOf({ startedAt, finishedAt, exitCode: 3 })
  assert.deepEqual([pod.state, pod.state_reason, pod.state_message], ['ERROR', 'Error', row.reason])
  const [container] = pod.containers
  assert.equal(container.image, 'app@sha256:1')
  const at = Date.UTC(2026, 0, 1)
  assert.deepEqual(container.current_state, {
    state: 'ERROR',
    started_at: at,
    state_reason: 'Error',
    state_message: row.reason,
  })
  assert.deepEqual(container.last_terminated_state, {
    exit_code: 3,
    exit_code_message: 'exited with code 3',
    reason: 'Error',
    message: '',
    signal: 0,
    started_at: at,
    finished_at: at + 5000,
  })
  assert.equal(podOf({ exitCode: 137, outOfMemory: true, startedAt, finishedAt }).state_reason, 'OOMKilled')
  assert.equal(podOf({ exitCode: 0, startedAt, finishedAt }).state_reason, 'Completed')
  // Between two ends the result of the last one is unknown.
  const again = podOf({ running: true, startedAt: finishedAt, finishedAt: startedAt })
  assert.deepEqual([again.state_reason, 'last_terminated_state' in again.containers[0]], ['CrashLoopBackOff', false])
  // Recorded by a version that had no time.
  assert.equal('last_terminated_state' in podOf({ exitCode: 3 }).containers[0], false)
})

test('no pod in ERROR has an empty message, whatever was recorded', () => {
  for (const observed_state of [null, ...observedStates]) {
    for (const reason of [null, '', 'x']) {
      for (const exits of [0, 1, 2]) {
        for (const running of [true, false]) {
          const replica = { name: 'a', running, exits, outOfMemory: false }
          const pod = toPod(replica, { observed_state, reason, release_id: null })
          if (pod.state === 'ERROR') assert.match(pod.state_message, /\w/)
        }
      }
    }
  }
})
