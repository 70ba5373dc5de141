import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../lib/clock.ts'
import { silentLogger } from '../lib/log.ts'
import { nextDelay, type ReconcilersOptions, runReconcilers } from './reconcilers.ts'
import { aborted, until } from './testing.ts'

const base = { clock: systemClock, log: silentLogger, signal: new AbortController().signal }
const hour = 3_600_000
type Reconciler = ReturnType<ReconcilersOptions['reconcilers']>[number]

const one = (reconcile: Reconciler['reconcile'], everyMs = hour): Reconciler => ({ name: 'one', everyMs, reconcile })

test('runs a reconciler at the start and again after its interval', async (t) => {
  let runs = 0
  const running = runReconcilers({ ...base, reconcilers: () => [one(async () => void runs++, 5)] })
  t.after(() => running.stop())
  await until('three runs', () => runs >= 3)
})

test('runs it at once when nudged, again if it was running, and never twice at a time', async (t) => {
  let runs = 0
  let active = 0
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const running = runReconcilers({
    ...base,
    reconcilers: () => [
      one(async () => {
        assert.equal(++active, 1)
        await gates[runs++]?.promise
        active--
      }),
    ],
  })
  t.after(() => running.stop())
  await until('first run', () => runs === 1)
  for (let nudges = 0; nudges < 5; nudges++) running.nudge('one')
  assert.equal(runs, 1)
  gates[0]?.resolve()
  await until('second run', () => runs === 2)
  gates[1]?.resolve()
  await until('its end', () => active === 0)
  running.nudge('one')
  await until('third run', () => runs === 3)
  assert.deepEqual(running.counts(), { one: { runs: 3, failures: 0 } })
  assert.throws(() => running.nudge('two'), /reconciler "two" does not exist/)
})

test('a reminder ends a pause after a success, but not a run and not a pause after a failure', async (t) => {
  let runs = 0
  const gate = Promise.withResolvers<void>()
  const outcomes = [() => gate.promise, async () => {}, () => Promise.reject(new Error('no'))]
  const asleep: Promise<void>[] = []
  const clock = {
    ...systemClock,
    // A pause begins when a loop sleeps. The limit of a run is ten minutes.
    sleep: (ms: number, of?: AbortSignal) => {
      if (ms === 600_000) return systemClock.sleep(ms, of)
      const slept = systemClock.sleep(ms, of)
      asleep.push(slept)
      return slept
    },
  }
  const running = runReconcilers({
    ...base,
    clock,
    reconcilers: () => [one(() => outcomes[runs++]?.() ?? gate.promise)],
  })
  t.after(() => running.stop())
  await until('first run', () => runs === 1)
  running.remind('one')
  gate.resolve()
  await until('the first pause', () => asleep.length === 1)
  assert.equal(runs, 1)
  running.remind('one')
  await until('the second pause', () => asleep.length === 2)
  assert.equal(runs, 2)
  running.remind('one')
  await until('the third pause, after a failure', () => asleep.length === 3)
  running.remind('one')
  // A pause that ends does so before the next turn of the event loop.
  await new Promise(setImmediate)
  assert.equal(runs, 3)
  running.nudge('one')
  await until('the fourth pause', () => asleep.length === 4)
  assert.deepEqual(running.counts(), { one: { runs: 4, failures: 1 } })
  assert.throws(() => running.remind('two'), /reconciler "two" does not exist/)
})

test('continues after errors, which it counts, without affecting others', async (t) => {
  let others = 0
  const running = runReconcilers({
    ...base,
    random: () => 0,
    reconcilers: () => [
      one(() => Promise.reject(new Error('no')), 1),
      { name: 'other', everyMs: 1, reconcile: async () => void others++ },
    ],
  })
  t.after(() => running.stop())
  await until('three failures', () => (running.counts()['one']?.failures ?? 0) >= 3)
  await until('three runs of the other one', () => others >= 3)
})

test('aborts what runs when it is stopped, from inside or outside, and waits for it', async () => {
  for (const from of ['inside', 'outside']) {
    const outside = new AbortController()
    let isRunning = false
    const reconcile = (signal: AbortSignal): Promise<void> =>
      aborted(signal, () => {
        isRunning = true
      }).finally(() => {
        isRunning = false
      })
    const running = runReconcilers({ ...base, signal: outside.signal, reconcilers: () => [one(reconcile)] })
    await until('run', () => isRunning)
    if (from === 'outside') outside.abort(new Error('end'))
    await running.stop()
    assert.equal(isRunning, false)
  }
})

test('aborts a run that takes too long', async (t) => {
  const running = runReconcilers({ ...base, limitMs: 20, reconcilers: () => [one((signal) => aborted(signal))] })
  t.after(() => running.stop())
  await until('failure', () => running.counts()['one']?.failures === 1)
})

test('rejects two of the same name', () => {
  const reconciler = one(async () => {})
  assert.throws(() => runReconcilers({ ...base, reconcilers: () => [reconciler, reconciler] }), /two reconcilers/)
})

test('waits the interval within a tenth, and longer after failures', () => {
  assert.equal(
    nextDelay(1000, 0, () => 0),
    900,
  )
  assert.equal(
    nextDelay(1000, 0, () => 1),
    1100,
  )
  const afterFailures = [1, 2, 3, 20].map((failures) => nextDelay(1000, failures, () => 0))
  assert.deepEqual(afterFailures, [2000, 4000, 8000, 60_000])
  assert.equal(
    nextDelay(hour, 5, () => 0),
    hour,
  )
})

test('a refresh starts added reconcilers and ends removed ones', async (t) => {
  const runs: string[] = []
  const named = (name: string): Reconciler => ({ name, everyMs: 1, reconcile: async () => void runs.push(name) })
  const [first, second] = [named('first'), named('second')]
  let wanted: readonly Reconciler[] = [first]
  const running = runReconcilers({ ...base, reconcilers: () => wanted })
  t.after(() => running.stop())
  await until('a run of the first', () => runs.includes('first'))
  wanted = [second]
  running.refresh()
  await until('runs of the second', () => (running.counts()['second']?.runs ?? 0) >= 5)
  const runsOfFirst = running.counts()['first']?.runs
  await until('more runs of the second', () => (running.counts()['second']?.runs ?? 0) >= 50)
  assert.equal(running.counts()['first']?.runs, runsOfFirst)
  running.nudge('first')
})

test('a reconciler that was removed during its run is aborted, and its successor waits for it', async (t) => {
  const gate = Promise.withResolvers<void>()
  const events: string[] = []
  const former = one(async (signal) => {
    events.push('former')
    await aborted(signal).catch(() => {})
    await gate.promise
    events.push('end of former')
  })
  const next = one(async () => void events.push('next'))
  let wanted: readonly Reconciler[] = [former]
  const running = runReconcilers({ ...base, reconcilers: () => wanted })
  t.after(() => running.stop())
  await until('the first run', () => events.length === 1)
  wanted = [next]
  running.refresh()
  await new Promise(setImmediate)
  assert.deepEqual(events, ['former'])
  gate.resolve()
  await until('a run of the next', () => events.length === 3)
  assert.deepEqual(events, ['former', 'end of former', 'next'])
})
