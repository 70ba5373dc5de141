import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSharedCall } from './shared-call.ts'

const { signal } = new AbortController()

test('callers during a run share the next one, also after a failure', async () => {
  const runs: PromiseWithResolvers<string>[] = []
  const call = createSharedCall(() => {
    const run = Promise.withResolvers<string>()
    runs.push(run)
    return run.promise
  })
  const first = call(signal)
  const others = [call(signal), call(signal)]
  assert.equal(runs.length, 1)
  runs[0]?.reject(new Error('no'))
  await assert.rejects(first, { message: 'no' })
  await new Promise(setImmediate)
  assert.equal(runs.length, 2)
  const last = call(signal)
  runs[1]?.resolve('second')
  assert.deepEqual(await Promise.all(others), ['second', 'second'])
  await new Promise(setImmediate)
  runs[2]?.resolve('third')
  assert.equal(await last, 'third')
  assert.equal(runs.length, 3)
})

test('an aborted caller returns at once, and the others get the result', async () => {
  const run = Promise.withResolvers<string>()
  const call = createSharedCall(() => run.promise)
  const aborting = new AbortController()
  const aborted = call(aborting.signal)
  await new Promise(setImmediate)
  const other = call(signal)
  aborting.abort(new Error('gone'))
  await assert.rejects(aborted, { message: 'gone' })
  await assert.rejects(async () => call(aborting.signal), { message: 'gone' })
  run.resolve('done')
  assert.equal(await other, 'done')
})
