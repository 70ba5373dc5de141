import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { silentLogger as log } from '../lib/log.ts'
import { startBaseImage } from './first-start.ts'

const { signal } = new AbortController()

/** Starts a daemon that answers as the listener does, beside an empty data directory. */
async function daemon(t: TestContext, listener: RequestListener) {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'quayside-first-start-'))
  const dockerSocket = join(dataDirectory, 'docker.sock')
  const asked: (string | undefined)[] = []
  const server = createServer((request, response) => {
    asked.push(request.url?.split('?')[0])
    listener(request, response)
  }).listen(dockerSocket)
  await once(server, 'listening')
  t.after(async () => {
    server.close().closeAllConnections()
    await rm(dataDirectory, { recursive: true })
  })
  return { config: { dataDirectory, dockerSocket }, asked, server }
}

const unable: RequestListener = (_, response) => void response.writeHead(500).end('{"message": "the disk is full"}')

test('startBaseImage asks the engine on an empty data directory, and a failure does not end the start', async (t) => {
  const { config, asked } = await daemon(t, unable)
  await startBaseImage({ config, log, signal, started: new AsyncDisposableStack() })
  assert.deepEqual(asked, ['/images/json'])
})

test('startBaseImage asks nothing on a data directory that a version has used', async (t) => {
  const { config, asked } = await daemon(t, unable)
  await writeFile(join(config.dataDirectory, 'version.json'), '{"version": "0.1.0"}')
  await startBaseImage({ config, log, signal, started: new AsyncDisposableStack() })
  assert.deepEqual(asked, [])
})

for (const end of ['a stop', 'a failure of the start']) {
  test(`startBaseImage ends with ${end}`, async (t) => {
    const { config, server } = await daemon(t, () => {})
    const [stop, started] = [new AbortController(), new AsyncDisposableStack()]
    const asking = once(server, 'request')
    const made = startBaseImage({ config, log, signal: stop.signal, started })
    await asking
    if (end === 'a stop') stop.abort()
    else await started.disposeAsync()
    await made
  })
}
