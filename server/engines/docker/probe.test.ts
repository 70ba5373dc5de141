import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createHttp2Server, type Http2Server } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import { createServer as createTcpServer, type Server } from 'node:net'
import { after, describe, it } from 'node:test'
import { selfSigned } from '../../../test/support/self-signed.ts'
import type { Probe } from '../engine.ts'
import { probe } from './probe.ts'

const servers: (Server | Http2Server)[] = []
after(() => {
  for (const server of servers) server.close()
})

async function listen(server: Server | Http2Server): Promise<number> {
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

const never = new AbortController().signal
const ask = (check: Probe['check'], { exitCode = 0, seconds = 20 } = {}) =>
  probe(check, { address: '127.0.0.1', exec: async () => ({ exitCode, output: 'not yet\n' }) }, seconds, never)
const http = (port: number, path = '/'): Probe['check'] => ({ type: 'http', scheme: 'HTTP', port, path })

describe('a probe', () => {
  it('accepts only 2xx and 3xx as healthy', async () => {
    const port = await listen(
      createServer((request, response) => response.writeHead(Number(request.url?.slice(1))).end()),
    )
    for (const status of [200, 204, 301, 302, 399])
      assert.deepEqual(await ask(http(port, `/${status}`)), { healthy: true })
    for (const status of [400, 404, 500, 503]) {
      const why = `GET /${status} on port ${port} was answered with ${status}`
      assert.deepEqual(await ask(http(port, `/${status}`)), { healthy: false, silent: false, why })
    }
  })

  it('accepts any certificate over HTTPS, and does not mix up the schemes', async () => {
    const port = await listen(createHttpsServer(selfSigned, (_, response) => response.end()))
    assert.deepEqual(await ask({ type: 'http', scheme: 'HTTPS', port, path: '/' }), { healthy: true })
    assert.equal((await ask(http(port))).healthy, false)
  })

  it('distinguishes a port on which nothing listens from a slow one', async () => {
    const port = await listen(createTcpServer())
    assert.deepEqual(await ask({ type: 'tcp', port }), { healthy: true })
    const slow = await ask(http(port), { seconds: 0.5 })
    assert.ok(!slow.healthy && !slow.silent && /no answer within 0.5 s/.test(slow.why), JSON.stringify(slow))
    const gone = createTcpServer()
    const free = await listen(gone)
    await new Promise((resolve) => gone.close(resolve))
    const silent = await ask({ type: 'tcp', port: free })
    assert.ok(!silent.healthy && silent.silent, JSON.stringify(silent))
  })

  it('cannot be made to send headers by a path', async () => {
    const port = await listen(createServer((_request, response) => response.end()))
    const outcome = await ask(http(port, '/x HTTP/1.1\r\nX-Evil: 1\r\n\r\n'))
    assert.equal(outcome.healthy, false)
  })

  it('uses the exit code of a command', async () => {
    const check = { type: 'exec', command: ['check', '; rm'] } as const
    assert.deepEqual(await ask(check), { healthy: true })
    assert.deepEqual(await ask(check, { exitCode: 2 }), {
      healthy: false,
      silent: false,
      why: 'the health command "check" ended with code 2: not yet',
    })
  })

  it('reads the status of a service from the gRPC health service', async () => {
    const asked: string[] = []
    const server = createHttp2Server()
    server.on('stream', (stream) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const service = Buffer.concat(chunks).subarray(7).toString()
        asked.push(service)
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': service === 'absent' ? '5' : '0' }))
        stream.end(service === 'absent' ? '' : Buffer.from([0, 0, 0, 0, 2, 8, service === 'down' ? 2 : 1]))
      })
    })
    const port = await listen(server)
    const grpc = (service: string) => ask({ type: 'grpc', port, service })
    assert.deepEqual(await grpc(''), { healthy: true })
    assert.deepEqual(await grpc('shop'), { healthy: true })
    const down = await grpc('down')
    assert.ok(!down.healthy && /NOT_SERVING/.test(down.why))
    const absent = await grpc('absent')
    assert.ok(!absent.healthy && /gRPC status 5/.test(absent.why))
    assert.deepEqual(asked, ['', 'shop', 'down', 'absent'])
  })

  it('rejects when the caller cancels', async () => {
    const port = await listen(createTcpServer())
    const target = { address: '127.0.0.1', exec: async () => ({ exitCode: 0, output: '' }) }
    await assert.rejects(probe(http(port), target, 60, AbortSignal.abort('stopped')), (error) => error === 'stopped')
  })
})
