import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock as clock } from '../../lib/clock.ts'
import { Events } from './events.ts'
import { label } from './labels.ts'
import { serviceLogs } from './logs.ts'
import { pretend } from './test-daemon.ts'

/** One line of the standard output, as the engine sends it. */
function frameOf(text: string): Buffer {
  const line = Buffer.from(`2026-11-22T10:00:00.000000000Z ${text}\n`)
  const head = Buffer.alloc(8)
  head[0] = 1
  head.writeUInt32BE(line.length, 4)
  return Buffer.concat([head, line])
}
const listed = (id: string) => ({ Id: id, Names: [`/${id}`], State: 'running', Labels: { [label.release]: 'r' } })

for (const status of [404, 409]) {
  test(`a container that is gone when it is read (${status}) leaves the lines of the others`, async () => {
    await pretend(
      ({ url = '' }, response) => {
        if (url.includes('/gone/logs')) {
          response.statusCode = status
          response.end(JSON.stringify({ message: 'can not get logs from container which is dead' }))
        } else if (url.includes('/here/logs')) response.end(frameOf('still here'))
        else response.end(JSON.stringify([listed('gone'), listed('here')]))
      },
      async (daemon) => {
        const { signal } = new AbortController()
        const source = {
          daemon,
          clock,
          instance: 'i',
          events: new Events({ daemon, clock, instance: 'i', heard: () => {} }),
        }
        const seen: string[] = []
        for await (const { text } of serviceLogs(source, 's', { follow: false }, signal)) seen.push(text)
        assert.deepEqual(seen, ['still here'])
      },
    )
  })
}
