import assert from 'node:assert/strict'
import { Agent, get, type IncomingMessage } from 'node:http'
import test from 'node:test'
import { haproxy, missingHaproxy } from '../../test/support/haproxy.ts'
import { beds, portOf, testBed, textOf } from '../test-bed.ts'

beds.haproxy = haproxy
const skip = (await missingHaproxy()) ?? false

/** Bytes of a header. A small buffer of HAProxy holds the request, just holds it, or does not. */
const sizes = [10, 900, 3_000, 3_500, 4_000, 4_500, 8_000, 12_000, 15_000]

test('a safe request of any size whose connection breaks is sent again whole, and its client stays', {
  skip,
}, async (t) => {
  const bed = await testBed(t)
  const tried = new Set<string | undefined>()
  const app = await bed.application((request, response) => {
    const isFirst = !tried.has(request.url)
    tried.add(request.url)
    if (isFirst) return void request.socket.destroy()
    response.end(`${request.headers['x-forwarded-for']} ${request.headers['x-long']}`)
  })
  await bed.lead([portOf(app)])
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const ports = new Set<number | undefined>()
  for (const size of sizes) {
    const long = 'x'.repeat(size)
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const to = { host: '127.0.0.1', port: bed.router.port, path: `/${size}`, agent }
    get({ ...to, headers: { host: 'app.localhost', 'x-long': long } }, resolve).on('error', reject)
    const response = await promise
    ports.add(response.socket.localPort)
    assert.equal(await textOf(response), `127.0.0.1 ${long}`, `${size} bytes`)
    assert.equal(response.statusCode, 200)
  }
  assert.equal(tried.size, sizes.length)
  assert.equal(ports.size, 1, 'the client keeps its connection')
})
