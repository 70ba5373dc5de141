import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { test } from 'node:test'
import type { Route } from '@quayside/contract/routes.ts'
import { until } from '../test/support/until.ts'
import { silentLog } from './log.ts'
import { startRouter } from './router.ts'
import { type TestBed, testBed } from './test-bed.ts'

type Life = Parameters<typeof testBed>[0]

/** Starts a TCP server on a free port. */
async function bytesServer(t: Life, onConnection: (socket: Socket) => void, port = 0) {
  const sockets = new Set<Socket>()
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy()).once('close', () => sockets.delete(socket))
    onConnection(socket)
  })
  server.listen(port, '127.0.0.1')
  // Rejects if the port is taken.
  await once(server, 'listening')
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy()
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  }
  t.after(close)
  const bound = server.address()
  assert.ok(typeof bound === 'object' && bound)
  return { port: bound.port, sockets, close }
}
const named = (name: string) => (socket: Socket) => void socket.write(name)
const echo = (socket: Socket) => void socket.pipe(socket)

function client(t: Life, port: number) {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  const seen = { socket, text: '', bytes: 0, ended: false, closed: false, error: '' }
  socket.on('error', (error) => {
    seen.error = error.message
  })
  socket.on('data', (chunk) => {
    seen.bytes += chunk.length
    if (seen.bytes < 1000) seen.text += chunk
  })
  socket.once('end', () => {
    seen.ended = true
  })
  socket.once('close', () => {
    seen.closed = true
  })
  t.after(async () => void socket.destroy())
  return seen
}
let version = 0
/** Routes a port of this machine to ports of applications. */
async function leadPort(bed: TestBed, port: number, ports: readonly number[], more: Partial<Route> = {}) {
  const endpoints = ports.map((each) => ({ address: '127.0.0.1', port: each }))
  const listen = { protocol: 'TCP', port } as const
  const route: Route = { host: `localhost:${port}`, listen, service: 's', name: 'db', endpoints, ...more }
  const answer = await bed.tell('PUT', '/routes', { version: ++version, routes: [route] })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body
}

/** The same with a free port below the ephemeral range. Returns the port. */
async function leadFreePort(bed: TestBed, ports: readonly number[], more: Partial<Route> = {}): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 30_000)
    if (!(await leadPort(bed, port, ports, more))['taken']) return port
  }
}

test('bytes flow both ways, whichever side speaks first, and a half-closed side still receives', async (t) => {
  const bed = await testBed(t)
  const first = await bytesServer(t, (socket) => {
    socket.write('hello ')
    let heard = ''
    socket.on('data', (chunk) => {
      heard += chunk
    })
    socket.once('end', () => socket.end(`heard ${heard}`))
  })
  const port = await leadFreePort(bed, [first.port])
  const one = client(t, port)
  await until('the application speaks first', () => one.text === 'hello ')
  one.socket.end('a word')
  await until('both sides have ended', () => one.closed)
  assert.deepEqual([one.text, one.error], ['hello heard a word', ''])

  const large = await bytesServer(t, echo)
  await leadPort(bed, port, [large.port])
  const two = client(t, port)
  const size = 20_000_000
  two.socket.end(Buffer.alloc(size, 'x'))
  await until('all came back', () => two.ended)
  assert.equal(two.bytes, size)
})

test('new connections go to the new version, and open ones stay until they end', async (t) => {
  const bed = await testBed(t)
  const [a, b] = [await bytesServer(t, named('a')), await bytesServer(t, named('b'))]
  const port = await leadFreePort(bed, [a.port])
  const old = client(t, port)
  await until('the old version answers', () => old.text === 'a')
  await leadPort(bed, port, [b.port])
  const young = client(t, port)
  await until('the new version answers', () => young.text === 'b')
  const endpoints = [{ address: '127.0.0.1', port: a.port }]
  assert.deepEqual((await bed.tell('POST', '/drain', { endpoints, timeoutMs: 20 })).body, { open: 1 })
  assert.equal(old.closed, false)
  for (const socket of a.sockets) socket.destroy()
  await until('the connection ends with its application', () => old.ended)
  old.socket.end()
  assert.deepEqual((await bed.tell('POST', '/drain', { endpoints, timeoutMs: 60_000 })).body, { open: 0 })
})

test('a port without an application resets connections, and closes without a route', async (t) => {
  const bed = await testBed(t)
  const port = await leadFreePort(bed, [], { reason: 'it is stopped' })
  const refused = client(t, port)
  await until('it is broken off', () => refused.closed)
  assert.equal(refused.text, '')
  const app = await bytesServer(t, named('in'))
  await leadPort(bed, port, [app.port], { rules: { deny: ['127.0.0.0/8'] } })
  const denied = client(t, port)
  await until('it is not let in', () => denied.closed)
  assert.equal(denied.text, '')
  assert.equal((await bed.tell('PUT', '/routes', { version: ++version, routes: [] })).status, 200)
  const isFree = (): Promise<boolean> =>
    bytesServer(t, () => {}, port).then(
      () => true,
      () => false,
    )
  await until('the port is free', isFree)
})

test('a connection wakes a sleeping service and waits for it', async (t) => {
  const bed = await testBed(t)
  const port = await leadFreePort(bed, [], { asleep: true })
  const wakes = bed.tell('POST', '/wakes', { sequence: 0, timeoutMs: 60_000 })
  const early = client(t, port)
  early.socket.write('early')
  assert.deepEqual((await wakes).body['services'], ['s'])
  const app = await bytesServer(t, echo)
  await leadPort(bed, port, [app.port])
  await until('what was sent early comes back', () => early.text === 'early')
  const { services } = (await bed.tell('GET', '/activity')).body
  assert.deepEqual(services, [{ service: 's', requests: 1, open: 1 }])
})

test('the router reports a TCP port of another program, and opens it once it is free', async (t) => {
  const bed = await testBed(t)
  const other = await bytesServer(t, () => {})
  const app = await bytesServer(t, named('in'))
  assert.deepEqual((await leadPort(bed, other.port, [app.port]))['taken'], [other.port])
  assert.equal((await bed.ask()).status, 404)
  await other.close()
  const late = async (): Promise<boolean> => {
    const one = client(t, other.port)
    await until('it is answered', () => one.closed || one.text !== '')
    return one.text === 'in'
  }
  await until('the port answers', late)
})

test('a restarted router listens on its previous ports', async (t) => {
  const bed = await testBed(t)
  const app = await bytesServer(t, named('in'))
  const port = await leadFreePort(bed, [app.port])
  const open = client(t, port)
  await until('it answers', () => open.text === 'in')
  assert.ok((await readFile(bed.state, 'utf8')).includes(`localhost:${port}`))
  await bed.router.stop(0)
  await until('what is open has ended', () => open.ended || open.closed)
  const config = { host: '127.0.0.1', port: 0, control: `${bed.control}2`, state: bed.state, trusted: [] }
  const second = await startRouter(config, silentLog)
  t.after(() => second.stop(0))
  const again = client(t, port)
  await until('it answers again', () => again.text === 'in')
})

test('a table with invalid ports is rejected', async (t) => {
  const { tell } = await testBed(t)
  const route = (host: string, listen: unknown) => ({ host, listen, service: 's', name: 'db', endpoints: [] })
  const tcp = (port: unknown) => ({ protocol: 'TCP', port })
  for (const routes of [
    [route('localhost:1', tcp(2))],
    [route('localhost', tcp(1))],
    [route('localhost:0', tcp(0))],
    [route('localhost:70000', tcp(70_000))],
    [route('localhost:1', { protocol: 'SCTP', port: 1 })],
    [route('localhost:1', undefined)],
    [route('a:1', tcp(1)), route('b:1', tcp(1))],
  ]) {
    assert.equal((await tell('PUT', '/routes', { version: 9, routes })).status, 400, JSON.stringify(routes))
  }
})
