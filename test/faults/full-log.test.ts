import assert from 'node:assert/strict'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { testDatabase } from '../../server/database/testing.ts'
import { findGround, launchServer, settingsOf } from '../support/launch-server.ts'
import { startTidying } from '../support/tidying.ts'
import { until } from '../support/until.ts'

// The disk of the log is full. Every write of a line fails, and nothing else does.

/** An engine that answers pings and fails every other call. */
async function openIdleEngine(socketPath: string): Promise<void> {
  const engine = createServer((request, response) => {
    if (request.url?.includes('/_ping')) response.end('OK')
    else response.writeHead(500).end('{"message":"made up"}')
  })
  engine.listen(socketPath)
  await once(engine, 'listening')
  after(() => {
    engine.closeAllConnections()
    engine.close()
  })
}

test('a server that can write neither its log nor its output keeps answering', async () => {
  const database = await testDatabase({ after })
  const ground = await findGround()
  const tidying = startTidying(ground.dataDirectory)
  after(() => tidying.finish())
  const socket = join(ground.dataDirectory, 'engine.sock')
  await openIdleEngine(socket)
  const full = openSync('/dev/full', 'w')
  const env = { ...settingsOf(ground, socket), QUAYSIDE_DATABASE_URL: database.url }
  const { child, exit } = launchServer(env, [], ['ignore', full, full])
  tidying.note('server', child.pid)
  const ended = (): string | undefined => (child.exitCode === null ? undefined : `it ended with code ${child.exitCode}`)
  const status = (path: string, headers: Record<string, string> = {}): Promise<number | string> =>
    fetch(`http://127.0.0.1:${ground.port}${path}`, { headers, signal: AbortSignal.timeout(10_000) }).then(
      (answer) => answer.status,
      (error: unknown) => ended() ?? String(error),
    )
  const token = await until('the server has created its first token', async () => {
    const made = await readFile(join(ground.dataDirectory, 'admin-token'), 'utf8').catch(() => undefined)
    return made?.trim() ?? ended()
  })
  // The server logs each rejected request.
  const refusals: (number | string)[] = []
  for (let n = 0; n < 20; n++) refusals.push(await status('/organization'))
  assert.deepEqual(new Set(refusals), new Set([401]))
  assert.equal(await status('/organization', { authorization: `Token ${token}` }), 200)
  child.kill('SIGTERM')
  assert.deepEqual(await exit, { code: 0, signal: null })
})
