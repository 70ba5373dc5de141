import assert from 'node:assert/strict'
import { PassThrough, Readable } from 'node:stream'
import { test } from 'node:test'
import { systemClock } from '../lib/clock.ts'
import { readBytes } from './body.ts'

test('gives all bytes, up to the limit', async () => {
  const parts = Readable.from([Buffer.from('ab'), Buffer.from('c')])
  assert.equal((await readBytes(parts, 3, 1000, systemClock)).toString(), 'abc')
  assert.equal((await readBytes(Readable.from([]), 3, 1000, systemClock)).length, 0)
})

test('a byte too many ends it, whatever is still to come', async () => {
  const endless = Readable.from(
    (function* () {
      for (;;) yield Buffer.alloc(2)
    })(),
  )
  await assert.rejects(readBytes(endless, 3, 1000, systemClock), { code: 'tooLarge' })
  assert.ok(endless.destroyed)
})

test('a body that does not come in time is refused', async () => {
  const waited: number[] = []
  const clock = { ...systemClock, sleep: async (ms: number) => void waited.push(ms) }
  const silent = new PassThrough()
  await assert.rejects(readBytes(silent, 3, 30_000, clock), { code: 'requestTimeout', message: /30 s/ })
  assert.deepEqual(waited, [30_000])
  assert.ok(silent.destroyed)
})
