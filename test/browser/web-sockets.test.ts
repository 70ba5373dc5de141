import assert from 'node:assert/strict'
import { connect, createServer } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { WebSocketServer } from 'ws'
import { beds, portOf, testBed } from '../../router/test-bed.ts'
import { noBrowser, openTestBrowser } from '../support/chromium.ts'
import { haproxy, missingHaproxy } from '../support/haproxy.ts'
import { selfSigned } from '../support/self-signed.ts'

// Chromium opens a WebSocket over the HTTP/2 connection of its page, at the router.

const host = 'chat.localhost'
const missing = await missingHaproxy()

/** A port that leads to another one and keeps the first bytes of each connection. */
async function watchedPort(t: TestContext, to: number): Promise<{ port: number; hellos: Buffer[] }> {
  const hellos: Buffer[] = []
  const server = createServer((client) => {
    const inner = connect(to, '127.0.0.1')
    client.once('data', (first) => hellos.push(first))
    client.on('error', () => inner.destroy()).on('close', () => inner.destroy())
    inner.on('error', () => client.destroy()).on('close', () => client.destroy())
    client.pipe(inner).pipe(client)
    t.after(() => void client.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => void server.close())
  return { port: portOf(server), hellos }
}

describe('a WebSocket of a browser', { skip: noBrowser ?? false }, () => {
  for (const [name, program] of [
    ['our router', undefined],
    ['HAProxy', haproxy],
  ] as const) {
    it(`uses the HTTP/2 connection of its page at ${name}`, { skip: (program && missing) ?? false }, async (t) => {
      beds.haproxy = program
      const bed = await testBed(t, { tlsPort: 0 })
      const app = await bed.application((_, response) => response.end('<!doctype html><title>chat</title>'))
      const sockets = new WebSocketServer({ server: app })
      sockets.on('connection', (socket, { url }) => {
        socket.send(`open ${url}`)
        socket.on('message', (message, isBinary) => socket.send(message, { binary: isBinary }))
      })
      await bed.lead([portOf(app)], { host, tls: { from: 'platform', redirects: true } })
      const certificates = [{ host, chain: selfSigned.cert, key: selfSigned.key }]
      assert.equal((await bed.tell('PUT', '/tls', { certificates, challenges: [], mark: 'one' })).status, 200)
      const { port, hellos } = await watchedPort(t, bed.router.tlsPort ?? 0)
      const browser = await openTestBrowser()
      t.after(() => browser.close())
      const page = await (await browser.context({ ignoreHTTPSErrors: true })).newPage()
      await page.goto(`https://${host}:${port}/`)
      const heard: unknown = await page.evaluate(`new Promise((resolve, reject) => {
        const socket = new WebSocket('wss://${host}:${port}/room?of=two')
        const heard = []
        socket.onerror = () => reject(new Error('the WebSocket failed'))
        socket.onmessage = ({ data }) => {
          heard.push(data.length > 100 ? data.length : data)
          if (heard.length === 1) socket.send('x'.repeat(300000))
          else socket.close(4001, 'done')
        }
        socket.onclose = ({ code, wasClean }) => resolve([...heard, code, wasClean])
      })`)
      assert.deepEqual(heard, ['open /room?of=two', 300_000, 4001, true])
      // A connection for a WebSocket over HTTP/1.1 would not offer HTTP/2.
      assert.ok(hellos.length > 0)
      for (const hello of hellos) assert.ok(hello.includes('\x02h2'), 'a connection offers HTTP/1.1 only')
    })
  }
})
