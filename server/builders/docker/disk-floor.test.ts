import assert from 'node:assert/strict'
import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { systemClock } from '../../lib/clock.ts'
import { usualFloor } from '../../lib/disk-floor.ts'
import { watchFloor } from './disk-floor.ts'

const gibibyte = 1024 ** 3
const directory = tmpdir()

test('usualFloor is a twentieth of the disk, at most ten GiB', () => {
  assert.equal(usualFloor(20 * gibibyte), gibibyte)
  assert.equal(usualFloor(4000 * gibibyte), 10 * gibibyte)
})

test('watchFloor aborts when free space is below the floor, even at the start', async () => {
  const { bsize, blocks } = await statfs(directory)
  const stop = new AbortController()
  const floor = { directory, floorBytes: 2 * bsize * blocks, clock: systemClock }
  await watchFloor(floor, stop, new AbortController().signal)
  assert.equal(stop.signal.reason.reason, 'disk-full')
  assert.match(stop.signal.reason.message, /less than [\d.]+ GiB of the engine's disk is free.*QUAYSIDE_DISK_FLOOR/)
})

test('watchFloor watches until it is over, and returns if it cannot see the disk', async () => {
  const [stop, over] = [new AbortController(), new AbortController()]
  let asked = 0
  const clock = {
    ...systemClock,
    sleep: async () => {
      if (++asked === 3) over.abort()
    },
  }
  await watchFloor({ directory, floorBytes: 0, clock }, stop, over.signal)
  await watchFloor({ directory: '/nonexistent', floorBytes: 1, clock }, stop, new AbortController().signal)
  assert.deepEqual([asked, stop.signal.aborted], [3, false])
})
