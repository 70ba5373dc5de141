import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { oncePerTurn } from './once-per-turn.ts'

test('callers of one turn with the same key share one result', async () => {
  const share = oncePerTurn<object>()
  let runs = 0
  const ask = (key: string) => share(key, async () => ({ key, run: ++runs }))
  const [first, second, other] = await Promise.all([ask('a'), ask('a'), ask('b')])
  assert.equal(first, second)
  assert.deepEqual(
    [first, other],
    [
      { key: 'a', run: 1 },
      { key: 'b', run: 2 },
    ],
  )
})

test('a caller of a later turn starts the work again, also while earlier work runs', async () => {
  const share = oncePerTurn<number>()
  const gate = Promise.withResolvers<void>()
  let runs = 0
  const ask = () =>
    share('a', async () => {
      const run = ++runs
      await gate.promise
      return run
    })
  const earlier = ask()
  await nextTurn()
  const later = ask()
  gate.resolve()
  assert.deepEqual(await Promise.all([earlier, later]), [1, 2])
})

test('an error reaches all callers of the turn and none of the next', async () => {
  const share = oncePerTurn<string>()
  const failed = await Promise.allSettled([
    share('a', () => Promise.reject(new Error('away'))),
    share('a', async () => 'never run'),
  ])
  assert.deepEqual(
    failed.map((one) => one.status === 'rejected' && one.reason.message),
    ['away', 'away'],
  )
  assert.equal(await share('a', async () => 'back'), 'back')
})
