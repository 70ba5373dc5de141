import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import type { Clock } from './clock.ts'
import { systemClock } from './clock.ts'
import { startDeadline, startLimit } from './deadline.ts'

const hour = 3_600_000

test('a deadline ends its work when the time is over', async () => {
  for (const caller of [undefined, new AbortController().signal]) {
    const deadline = startDeadline(1, caller)
    await once(deadline.signal, 'abort')
    assert.equal(deadline.isOver, true)
    assert.equal(deadline.signal.reason.name, 'TimeoutError')
  }
})

test('a deadline ends its work with the reason of the caller, and its time is not over then', () => {
  const caller = new AbortController()
  const deadline = startDeadline(hour, caller.signal)
  assert.equal(deadline.signal.aborted, false)
  caller.abort('gone')
  assert.deepEqual([deadline.signal.reason, deadline.isOver], ['gone', false])
  assert.equal(startDeadline(hour, caller.signal).signal.aborted, true)
})

test('a limit aborts with its own reason, unless it is disposed of before', async () => {
  const waits: { signal: AbortSignal | undefined; end: () => void }[] = []
  const clock: Clock = {
    ...systemClock,
    sleep: (_ms, signal) => new Promise((resolve) => waits.push({ signal, end: resolve })),
  }
  const limit = startLimit(clock, hour, () => 'late')
  waits[0]?.end()
  await once(limit.signal, 'abort')
  assert.equal(limit.signal.reason, 'late')
  const other = startLimit(clock, hour, () => 'late')
  other[Symbol.dispose]()
  assert.deepEqual([waits[1]?.signal?.aborted, other.signal.aborted], [true, false])
})
