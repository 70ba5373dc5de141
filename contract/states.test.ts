import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  actions,
  environmentState,
  isAtRest,
  isFailed,
  phases,
  refusal,
  type State,
  specificationState,
  stateNames,
} from './states.ts'

test('isAtRest is true for done and failed states and false for queued and working ones', () => {
  for (const action of actions) {
    const { queued, working, done, failed } = phases[action]
    assert.deepEqual([queued, working, done, failed].map(isAtRest), [false, false, true, true])
    assert.deepEqual([queued, working, done, failed].map(isFailed), [false, false, false, true])
  }
})

test('DELETE is allowed in every state, and nothing else while a service is being deleted', () => {
  for (const state of stateNames) assert.equal(refusal('DELETE', state), undefined)
  for (const action of actions) {
    if (action === 'DELETE') continue
    for (const state of ['DELETING', 'DELETE_QUEUED'] as const) assert.match(refusal(action, state) ?? '', /deleted/)
  }
})

test('STOP and RESTART are allowed only when a service may be running', () => {
  for (const state of ['READY', 'STOPPED', 'DELETED'] as const) {
    assert.ok(refusal('STOP', state))
    assert.ok(refusal('RESTART', state))
    assert.equal(refusal('DEPLOY', state), undefined)
  }
  for (const state of ['DEPLOYED', 'RESTARTED', 'DEPLOYMENT_ERROR', 'BUILDING', 'CANCELED'] as const) {
    for (const action of ['STOP', 'RESTART', 'DEPLOY'] as const) assert.equal(refusal(action, state), undefined)
  }
})

const environments: [State[], State][] = [
  [[], 'READY'],
  [['READY', 'READY'], 'READY'],
  [['READY', 'DEPLOYED'], 'DEPLOYED'],
  [['DEPLOYED', 'STOPPED'], 'DEPLOYED'],
  [['STOPPED', 'READY'], 'STOPPED'],
  [['DEPLOYED', 'BUILD_ERROR'], 'BUILD_ERROR'],
  [['DEPLOYMENT_ERROR', 'DEPLOYMENT_QUEUED'], 'DEPLOYMENT_QUEUED'],
  [['DEPLOYMENT_QUEUED', 'BUILDING'], 'BUILDING'],
  [['DEPLOYING', 'CANCELING'], 'CANCELING'],
  [['RESTARTED'], 'RESTARTED'],
  [['CANCELED', 'DELETED'], 'CANCELED'],
  [['DELETED', 'DELETED'], 'STOPPED'],
  [['DELETED', 'READY'], 'STOPPED'],
  [['DELETED', 'DEPLOYED'], 'DEPLOYED'],
]
for (const [services, state] of environments) {
  test(`an environment of ${services.join(', ') || 'nothing'} is ${state}`, () => {
    assert.equal(environmentState(services), state)
    assert.equal(environmentState(services.toReversed()), state)
  })
}

test('environmentState returns neither EXECUTING nor DELETED, for any services', () => {
  const unknown = new Set<State>(['DELETED', 'EXECUTING', 'RECAP', 'UNAVAILABLE'])
  for (const state of stateNames) {
    const whole = environmentState([state])
    assert.ok(!unknown.has(whole) && !whole.startsWith('WAITING_'), `${state} makes it ${whole}`)
  }
})

test('specificationState returns RUNNING, STOPPED and ERROR, and other states unchanged', () => {
  assert.equal(specificationState('DEPLOYED', false), 'RUNNING')
  assert.equal(specificationState('RESTARTED', false), 'RUNNING')
  assert.equal(specificationState('DEPLOYED', true), 'ERROR')
  for (const state of stateNames.filter(isFailed)) assert.equal(specificationState(state, false), 'ERROR')
  for (const state of ['STOPPED', 'BUILDING', 'DEPLOYMENT_QUEUED', 'CANCELED', 'READY'] as const) {
    assert.equal(specificationState(state, true), state)
  }
})
