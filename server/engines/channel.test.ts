import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Channel } from './channel.ts'

describe('a channel', () => {
  it('blocks writers while it is full, and keeps their order', async () => {
    const end = new AbortController()
    const channel = new Channel<number>(2, end.signal)
    let written = 0
    const writing = (async () => {
      for (let n = 0; n < 10; n++) {
        await channel.push(n)
        written++
      }
    })()
    await setImmediate()
    assert.equal(written, 2)
    const read: number[] = []
    for await (const n of channel) {
      read.push(n)
      if (read.length === 10) break
    }
    await writing
    assert.deepEqual(read, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  it('ends its readers and writers when it is aborted', async () => {
    const end = new AbortController()
    const channel = new Channel<number>(1, end.signal)
    const reading = (async () => {
      for await (const _ of channel) assert.fail('there was nothing')
    })()
    end.abort()
    await reading
    await channel.push(1)
    await channel.push(2)
  })
})
