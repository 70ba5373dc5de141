import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { type ClientHttp2Session, connect } from 'node:http2'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import Docker from 'dockerode'
import { openBuildSession } from './build-session.ts'

test('offers a session that is healthy and gives nothing away', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-session-'))
  const socketPath = join(directory, 'docker.sock')
  const engine = createServer().listen(socketPath)
  try {
    await once(engine, 'listening')
    const upgraded = once(engine, 'upgrade') as Promise<[IncomingMessage, Socket]>
    const opening = openBuildSession(new Docker({ socketPath }), AbortSignal.timeout(5000))
    const [request, socket] = await upgraded
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n')
    const session = await opening
    assert.equal(request.headers['x-docker-expose-session-uuid'], session.id)

    const client = connect('http://engine', { createConnection: () => socket })
    const health = await call(client, '/grpc.health.v1.Health/Check')
    assert.deepEqual(health, { status: '0', body: Buffer.from([0, 0, 0, 0, 2, 8, 1]) })
    for (const path of ['/moby.filesync.v1.Auth/Credentials', '/moby.buildkit.secrets.v1.Secrets/GetSecret', '/x']) {
      assert.deepEqual(await call(client, path), { status: '12', body: Buffer.alloc(0) })
    }
    const closed = once(client, 'close')
    session.close()
    await closed
  } finally {
    engine.close()
    await rm(directory, { recursive: true })
  }
})

/** A remote call as the engine makes it: an empty message in, status and answer out. */
async function call(client: ClientHttp2Session, path: string): Promise<{ status: unknown; body: Buffer }> {
  const stream = client.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
  })
  let status: unknown
  stream.on('response', (headers) => {
    status ??= headers['grpc-status']
  })
  stream.on('trailers', (headers) => {
    status ??= headers['grpc-status']
  })
  stream.end(Buffer.alloc(5))
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return { status, body: Buffer.concat(chunks) }
}
