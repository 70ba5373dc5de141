import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { type ClientHttp2Session, connect } from 'node:http2'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Secret } from '../../lib/secret.ts'
import { SocketHttp } from '../../lib/socket-http.ts'
import { openBuildSession } from './build-session.ts'

const secretPath = '/moby.buildkit.secrets.v1.Secrets/GetSecret'

test('openBuildSession answers health checks, returns the secrets of its build, and nothing else', async () => {
  const long = 'x'.repeat(300_000)
  const secrets = { TOKEN: new Secret('sésame'), LONG: new Secret(long) }
  const directory = await mkdtemp(join(tmpdir(), 'quayside-session-'))
  const socketPath = join(directory, 'docker.sock')
  const engine = createServer().listen(socketPath)
  try {
    await once(engine, 'listening')
    const upgraded = once(engine, 'upgrade') as Promise<[IncomingMessage, Socket]>
    const opening = openBuildSession(new SocketHttp({ socketPath }), secrets, AbortSignal.timeout(60_000))
    const [request, socket] = await upgraded
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n')
    const session = await opening
    assert.equal(request.headers['x-docker-expose-session-uuid'], session.id)

    const client = connect('http://engine', { createConnection: () => socket })
    const health = await call(client, '/grpc.health.v1.Health/Check')
    assert.deepEqual(health, { status: '0', body: Buffer.from([0, 0, 0, 0, 2, 8, 1]) })
    for (const path of ['/moby.filesync.v1.Auth/Credentials', '/x']) {
      assert.deepEqual(await call(client, path), { status: '12', body: Buffer.alloc(0) })
    }
    const ask = (name: string) => call(client, secretPath, question(name))
    const { status, body } = await ask('TOKEN')
    assert.equal(status, '0')
    assert.deepEqual(body, Buffer.concat([Buffer.from([0, 0, 0, 0, 9, 0x0a, 7]), Buffer.from('sésame')]))
    assert.equal((await ask('LONG')).body.toString('latin1').slice(-long.length), long)
    for (const name of ['OTHER', 'toString', '__proto__', '', 'T'.repeat(20_000)]) {
      assert.notEqual((await ask(name)).status, '0', name.slice(0, 20))
    }
    for (const broken of [Buffer.from([0, 0, 0, 0, 2, 0x0a, 200]), Buffer.from([1, 2]), Buffer.alloc(0)]) {
      const { status: refused, body: nothing } = await call(client, secretPath, broken)
      assert.ok(Number(refused) > 0, String(refused))
      assert.equal(nothing.length, 0)
    }
    const closed = once(client, 'close')
    session.close()
    await closed
  } finally {
    engine.close()
    await rm(directory, { recursive: true })
  }
})

/** A request as BuildKit sends it: the name, after an annotation that tests the field numbers. */
function question(name: string): Buffer {
  const id = Buffer.from(name)
  const length = id.length < 128 ? [id.length] : [(id.length & 0x7f) | 0x80, id.length >> 7]
  const message = Buffer.concat([Buffer.from([0x12, 2, 0x0a, 0, 0x0a, ...length]), id])
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

/**
 * Makes a remote call as the engine does, with an empty message by default. Returns the status and
 * the answer.
 */
async function call(
  client: ClientHttp2Session,
  path: string,
  message: Buffer = Buffer.alloc(5),
): Promise<{ status: unknown; body: Buffer }> {
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
  stream.end(message)
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return { status, body: Buffer.concat(chunks) }
}
