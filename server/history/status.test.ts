import assert from 'node:assert/strict'
import { test } from 'node:test'
import { observedStates } from '@quayside/contract/running-states.ts'
import { stateNames } from '@quayside/contract/states.ts'
import { BuildError } from '../builders/index.ts'
import { EngineError } from '../engines/index.ts'
import { GitError } from '../git/index.ts'
import { AppError } from '../lib/error.ts'
import { toShortStatus, toStatus } from '../requests/status.ts'
import type { StatusRow } from '../requests/status-store.ts'
import { toFailure } from '../rollout/failure.ts'
import { CanceledError, LeaseLostError, StepTimeoutError } from '../workflows/index.ts'
import { toDuration } from './history.ts'

const at = new Date('2026-01-01T00:00:00Z')
const row = (change: Partial<StatusRow> = {}): StatusRow => ({
  id: 'service',
  kind: 'application',
  stage_id: 'stage',
  state: 'DEPLOYED',
  config_version: 3,
  deployed_config_version: 3,
  drifted_at: null,
  release_id: 'release',
  last_deployment_date: at,
  is_part_last_deployment: true,
  observed_state: 'running',
  observed_reason: null,
  stop_reason: null,
  request_id: 'request',
  execution_id: 'environment-1',
  action: 'DEPLOY',
  request_status: 'SUCCESS',
  target_status: 'SUCCESS',
  stack_action: null,
  reason: null,
  started_at: at,
  finished_at: at,
  requests_count: 0,
  in_copy: false,
  steps: [
    { name: 'PIN', status: 'SUCCESS', seconds: 9 },
    { name: 'GIT_CLONE', status: 'SUCCESS', seconds: 2 },
    { name: 'BUILD', status: 'SUCCESS', seconds: 5 },
    { name: 'DEPLOYMENT', status: null, seconds: null },
  ],
  ...change,
})

test('a status uses the words of its reader’s format', () => {
  assert.equal(toStatus(row()).state, 'DEPLOYED')
  assert.equal(toShortStatus(row()).state, 'RUNNING')
  assert.equal(toShortStatus(row({ state: 'BUILD_ERROR' })).state, 'ERROR')
  assert.equal(toShortStatus(row({ state: 'STOPPED' })).state, 'STOPPED')
})

test('a failure that the engine reports is never RUNNING and has its reason', () => {
  for (const observed_state of ['failing', 'absent']) {
    const failing = row({ observed_state, observed_reason: 'exited with code 1' })
    assert.deepEqual([toShortStatus(failing).state, toStatus(failing).state], ['ERROR', 'DEPLOYED'])
    assert.equal(toStatus(failing).reason, 'exited with code 1')
  }
  const stopped = row({ state: 'STOPPED', observed_state: 'absent', observed_reason: 'x' })
  assert.equal(toStatus(stopped).reason, null)
  assert.equal(toShortStatus(row({ observed_state: 'starting' })).state, 'RUNNING')
})

test('a service is up to date, out of date or never deployed', () => {
  const of = (change: Partial<StatusRow>) => toStatus(row(change)).service_deployment_status
  assert.equal(of({}), 'UP_TO_DATE')
  assert.equal(of({ config_version: 4 }), 'OUT_OF_DATE')
  assert.equal(of({ deployed_config_version: null }), 'NEVER_DEPLOYED')
})

test('steps are those that the API names, and their total is reported when all have ended', () => {
  const ended = toStatus(row())
  assert.deepEqual(
    ended.steps?.details.map(({ step_name }) => step_name),
    ['GIT_CLONE', 'BUILD'],
  )
  assert.deepEqual([ended.steps?.total_duration_sec, ended.steps?.total_computing_duration_sec], [7, 7])
  assert.equal(ended.deployment_request_id, null)
  const running = toStatus(row({ request_status: 'ONGOING', target_status: 'ONGOING' }))
  assert.deepEqual([running.steps?.total_duration_sec, running.deployment_request_id], [null, 'request'])
})

test('a status names no request before the first one', () => {
  const none = toStatus(
    row({
      request_id: null,
      execution_id: null,
      action: null,
      request_status: null,
      target_status: null,
      steps: null,
      state: 'READY',
    }),
  )
  assert.deepEqual(none.status_details, { action: 'UNKNOWN', status: 'NEVER', sub_action: 'NONE' })
  assert.equal('steps' in none || 'execution_id' in none, false)
})

test('internal states are translated into words of the API', () => {
  const { status_details } = toStatus(row({ action: 'UNINSTALL', target_status: 'SKIPPED' }))
  assert.deepEqual(status_details, { action: 'DELETE', status: 'CANCELED', sub_action: 'NONE' })
})

const durations: [number, string][] = [
  [0, 'PT0S'],
  [-5, 'PT0S'],
  [499, 'PT0S'],
  [1000, 'PT1S'],
  [59_600, 'PT1M'],
  [65_000, 'PT1M5S'],
  [3_600_000, 'PT1H'],
  [3_661_000, 'PT1H1M1S'],
  [100 * 3_600_000, 'PT100H'],
]
for (const [ms, text] of durations) {
  test(`${ms} ms are ${text}`, () => assert.equal(toDuration(ms), text))
}

test('a failure is reported with its own reason, in the state of the step that failed', () => {
  const of = (error: unknown) => toFailure(error, 'DEPLOYMENT_ERROR')
  assert.deepEqual(of(new BuildError('failed', 'no')), { state: 'BUILD_ERROR', reason: 'no', lastLines: [] })
  assert.equal(of(new GitError('denied', 'no'))?.state, 'BUILD_ERROR')
  assert.equal(toFailure(new GitError('denied', 'no'), 'RESTART_ERROR')?.state, 'RESTART_ERROR')
  const crashed = new EngineError('crashed', 'exited', { lastLines: ['a'] })
  assert.deepEqual(of(crashed), { state: 'DEPLOYMENT_ERROR', reason: 'exited', lastLines: ['a'] })
  assert.equal(of(new StepTimeoutError('late'))?.state, 'DEPLOYMENT_ERROR')
  assert.equal(of(new AppError('sealed', 'sealed'))?.state, 'DEPLOYMENT_ERROR')
  assert.equal(of(new CanceledError('x'))?.state, 'CANCELED')
})

test('toFailure returns undefined when an error is not an outcome of the deployment', () => {
  for (const error of [
    new LeaseLostError('x'),
    new AppError('unavailable', 'x'),
    new TypeError('a bug'),
    'text',
    undefined,
  ]) {
    assert.equal(toFailure(error, 'DEPLOYMENT_ERROR'), undefined)
  }
})

test('a status of ERROR always has a reason', () => {
  for (const state of stateNames) {
    for (const observed_state of [null, ...observedStates]) {
      for (const observed_reason of [null, '', ' ']) {
        for (const reason of [null, '', '\n']) {
          const seen = row({ state, observed_state, observed_reason, reason })
          const told = toShortStatus(seen)
          const isFailed = told.state === 'ERROR' || state.endsWith('_ERROR')
          if (isFailed) assert.match(told.reason ?? '', /\w/, JSON.stringify({ state, observed_state }))
        }
      }
    }
  }
})
