import assert from 'node:assert/strict'
import { PassThrough, Readable } from 'node:stream'
import { test } from 'node:test'
import { systemClock } from '../lib/clock.ts'
import { readBytes } from './body.ts'
import { BodyRoom, smallBody } from './body-room.ts'

test('readBytes returns all bytes up to the limit', async () => {
  const parts = Readable.from([Buffer.from('ab'), Buffer.from('c')])
  assert.equal((await readBytes(parts, { bytes: 3, timeoutMs: 1000 }, systemClock)).toString(), 'abc')
  assert.equal((await readBytes(Readable.from([]), { bytes: 3, timeoutMs: 1000 }, systemClock)).length, 0)
})

test('readBytes stops at the first byte beyond the limit', async () => {
  const endless = Readable.from(
    (function* () {
      for (;;) yield Buffer.alloc(2)
    })(),
  )
  await assert.rejects(readBytes(endless, { bytes: 3, timeoutMs: 1000 }, systemClock), { code: 'tooLarge' })
  assert.ok(endless.destroyed)
})

test('readBytes rejects a body that does not arrive in time', async () => {
  const waited: number[] = []
  const clock = { ...systemClock, sleep: async (ms: number) => void waited.push(ms) }
  const silent = new PassThrough()
  await assert.rejects(readBytes(silent, { bytes: 3, timeoutMs: 30_000 }, clock), {
    code: 'requestTimeout',
    message: /30 s/,
  })
  assert.deepEqual(waited, [30_000])
  assert.ok(silent.destroyed)
})

test('readBytes rejects a body when the room is full', async () => {
  const place = new BodyRoom(0).enter('a')
  const large = Readable.from([Buffer.alloc(smallBody), Buffer.alloc(1), Buffer.alloc(1)])
  const limits = { bytes: 10 * smallBody, timeoutMs: 1000, place }
  await assert.rejects(readBytes(large, limits, systemClock), { code: 'unavailable' })
})
