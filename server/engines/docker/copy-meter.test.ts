import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { meterOf } from './copy-meter.ts'

const pass = async (...chunks: readonly Buffer[]) => {
  const meter = meterOf(() => {})
  const passed = await buffer(Readable.from(chunks).pipe(meter.stream))
  assert.deepEqual(passed, Buffer.concat(chunks))
  return [meter.bytes(), meter.isWhole()]
}

test('an archive that ends with two empty blocks is whole, however it comes', async () => {
  assert.deepEqual(await pass(Buffer.from('content'), Buffer.alloc(1024)), [1031, true])
  assert.deepEqual(await pass(Buffer.from('content'), Buffer.alloc(1000), Buffer.alloc(24)), [1031, true])
})

test('one that was broken off is not', async () => {
  assert.deepEqual(await pass(), [0, false])
  assert.deepEqual(await pass(Buffer.alloc(1023)), [1023, false])
  assert.deepEqual(await pass(Buffer.alloc(1024), Buffer.from('more')), [1028, false])
})
