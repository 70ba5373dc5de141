import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startOrReplace } from './start-or-replace.ts'
import { pretend } from './test-daemon.ts'

const [left, made] = ['1'.repeat(64), '2'.repeat(64)]

/**
 * Starts `left`, which the daemon rejects with this message. Returns the id of the started
 * container and the calls.
 */
async function begin(refusal: string): Promise<{ readonly started: string; readonly asked: string[] }> {
  const asked: string[] = []
  let started = ''
  const answer = (call: string): readonly [number, string] =>
    call.startsWith('POST') && call.includes(left) ? [500, JSON.stringify({ message: refusal })] : [204, '']
  await pretend(
    (request, response) => {
      const call = `${request.method} ${request.url?.replace(/\?.*$/, '')}`
      asked.push(call)
      const [status, text] = answer(call)
      response.writeHead(status).end(text)
    },
    async (daemon) => {
      const makeAgain = async () => made
      started = await startOrReplace(daemon, left, { makeAgain, signal: AbortSignal.timeout(60_000) })
    },
  )
  return { started, asked }
}

test('a container with a stale task, left by a killed Docker, is replaced', async () => {
  const { started, asked } = await begin(`task ${left}: already exists`)
  assert.equal(started, made)
  assert.deepEqual(asked, [
    `POST /containers/${left}/start`,
    `DELETE /containers/${left}`,
    `POST /containers/${made}/start`,
  ])
})

test('a container that Docker rejects for another reason is kept', async () => {
  await assert.rejects(begin('no more ideas'), { name: 'EngineError', reason: 'unreachable' })
})
