import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startOrReplace } from './start-or-replace.ts'
import { pretend } from './test-daemon.ts'

const [left, made] = ['1'.repeat(64), '2'.repeat(64)]

/**
 * Starts `left`, which the daemon refuses in these words; gives what was started and what was
 * asked.
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

test('a container that Docker was killed at, and will never start, is replaced', async () => {
  const { started, asked } = await begin(`task ${left}: already exists`)
  assert.equal(started, made)
  assert.deepEqual(asked, [
    `POST /containers/${left}/start`,
    `DELETE /containers/${left}`,
    `POST /containers/${made}/start`,
  ])
})

test('one that Docker refuses for other reasons stays', async () => {
  await assert.rejects(begin('no more ideas'), { name: 'EngineError', reason: 'unreachable' })
})
