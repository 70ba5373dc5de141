import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../lib/error.ts'
import { Lease } from './lease.ts'
import { backOff, isOutage, NoAnswerError } from './outage.ts'
import { isAlive, parseStat, processOwner } from './process-owner.ts'
import { decideEnding } from './run-workflow.ts'
import { storable } from './step.ts'
import { CanceledError, LeaseLostError, StepTimeoutError } from './workflow.ts'

const lease = (...events: ('lose' | 'stop' | 'cancel')[]): Lease => {
  const made = new Lease('id', '1', 1000)
  for (const event of events) event === 'lose' ? made.lose('why') : made[event]()
  return made
}
const outage = Object.assign(new Error('gone'), { code: 'CONNECTION_CLOSED' })

test('decides the meaning of a run that ended', () => {
  const bug = { thrown: new Error('bug') }
  assert.deepEqual(decideEnding(undefined, lease()), { state: 'done' })
  assert.deepEqual(decideEnding(undefined, lease('cancel')), { state: 'done' })
  assert.deepEqual(decideEnding(bug, lease()), { state: 'failed', reason: 'failed: bug' })
  assert.deepEqual(decideEnding(bug, lease('cancel')), { state: 'failed', reason: 'failed: bug' })
  const late = { thrown: new StepTimeoutError('late') }
  assert.deepEqual(decideEnding(late, lease()), { state: 'failed', reason: 'failed: late' })
})

test('ends as canceled only if it was cancelled and threw because of that', () => {
  const wrapped = { thrown: new Error('starting', { cause: new CanceledError('canceled') }) }
  assert.deepEqual(decideEnding(wrapped, lease('cancel')), { state: 'canceled', reason: 'canceled' })
  assert.equal(decideEnding(wrapped, lease()).state, 'failed')
})

test('gives a lost lease and a stopping process precedence over the outcome', () => {
  for (const outcome of [undefined, { thrown: new Error('bug') }, { thrown: outage }]) {
    assert.deepEqual(decideEnding(outcome, lease('stop', 'cancel')), { state: 'stopped' })
    assert.deepEqual(decideEnding(outcome, lease('stop', 'lose')), { state: 'lost' })
  }
  const thrown = new Error('x', { cause: new LeaseLostError('y') })
  assert.deepEqual(decideEnding({ thrown }, lease()), { state: 'lost' })
})

test('interrupts a run instead of failing it after an outage of the database', () => {
  assert.equal(decideEnding({ thrown: new Error('step', { cause: outage }) }, lease()).state, 'interrupted')
  assert.equal(isOutage(new NoAnswerError('x')), true)
  assert.equal(isOutage(new AppError('unavailable', 'x', { cause: outage })), true)
  assert.equal(isOutage(Object.assign(new Error('killed'), { code: '25P03' })), true)
  assert.equal(isOutage(Object.assign(new Error('docker is down'), { code: 'ECONNREFUSED' })), false)
  assert.equal(isOutage(new AppError('unavailable', 'the git server does not answer')), false)
  assert.equal(isOutage('text'), false)
})

test('aborts each signal for its own reasons', () => {
  const aborted = (made: Lease): boolean[] => [made.lost.aborted, made.life.aborted, made.work.aborted]
  assert.deepEqual(aborted(lease()), [false, false, false])
  assert.deepEqual(aborted(lease('cancel')), [false, false, true])
  assert.deepEqual(aborted(lease('stop')), [false, true, true])
  assert.deepEqual(aborted(lease('lose')), [true, true, true])
  const made = lease('cancel')
  assert(made.work.reason instanceof CanceledError)
  made.lose('why')
  assert(made.work.reason instanceof CanceledError)
  assert(made.life.reason instanceof LeaseLostError)
})

test('counts a lease as lost from the moment on that it was valid until', () => {
  const made = lease()
  made.expire(999)
  assert.equal(made.lost.aborted, false)
  made.renew(2000)
  made.expire(1999)
  assert.equal(made.lost.aborted, false)
  made.expire(2000)
  assert.equal(made.lost.aborted, true)
})

test('doubles the pause after each failure up to a limit', () => {
  const pauses = [1, 2, 3, 4, 100].map((failures) => backOff(failures, 50, 300, () => 0))
  assert.deepEqual(pauses, [50, 100, 200, 300, 300])
  assert.equal(
    backOff(1, 50, 300, () => 1),
    25,
  )
})

test('reads state and start of a process with any name', () => {
  const fields = Array.from({ length: 30 }, (_, index) => index + 4).join(' ')
  assert.deepEqual(parseStat(`12 (a) R (b) S ${fields}`), { letter: 'S', startTicks: '22' })
  assert.equal(parseStat(''), undefined)
})

test('tells living owners from dead ones, in doubt for the living', () => {
  const own = processOwner()
  const [host, pid, ticks] = own.split('/')
  assert.equal(isAlive(own), true)
  assert.equal(isAlive(`${own}/more`), true)
  assert.equal(isAlive(`${host}/${pid}/${Number(ticks) + 1}`), false)
  assert.equal(isAlive(`${host}/4194305/${ticks}`), false)
  assert.equal(isAlive(`elsewhere/4194305/${ticks}`), true)
  assert.equal(isAlive('anything'), true)
  assert.equal(isAlive(`${host}/0/1`), true)
})

test('makes any text storable', () => {
  assert.equal(storable('a\0b\ud800'), 'ab\ufffd')
  assert.equal(storable('x'.repeat(10_000)).length, 8192)
})
