import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { atMost } from './at-most.ts'

test('pieces pass up to the limit, and the error comes before a piece beyond it', async () => {
  const pieces = (): AsyncIterable<Uint8Array> => Readable.from([Buffer.from('ab'), Buffer.from('cd')])
  const error = new Error('too long')
  assert.equal((await buffer(atMost(pieces(), 4, () => error))).toString(), 'abcd')
  const passed: string[] = []
  await assert.rejects(
    async () => {
      for await (const piece of atMost(pieces(), 3, () => error)) passed.push(Buffer.from(piece).toString())
    },
    (thrown) => thrown === error,
  )
  assert.deepEqual(passed, ['ab'])
})
