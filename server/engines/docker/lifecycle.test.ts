import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock as clock } from '../../lib/clock.ts'
import { label } from './labels.ts'
import { graceAfterPreStop } from './lifecycle.ts'
import { pretend } from './test-daemon.ts'

test('a container whose pre-stop label is not a command keeps its grace time, so it can be stopped', async () => {
  const asked: string[] = []
  await pretend(
    (request, response) => {
      asked.push(`${request.method} ${request.url}`)
      response.writeHead(500).end()
    },
    async (daemon) => {
      for (const text of ['no JSON', '{}', '"true"', '[1]', 'null']) {
        const labels = { [label.preStop]: text, [label.stopGraceSeconds]: '7' }
        const grace = await graceAfterPreStop({ daemon, clock }, { id: '1', labels }, AbortSignal.timeout(10_000))
        assert.equal(grace, 7, text)
      }
    },
  )
  assert.deepEqual(asked, [])
})
