import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import test from 'node:test'
import { until } from '../test/support/until.ts'
import { portOf, type TestBed, testBed, untilClosed } from './test-bed.ts'

const ask = (extra = ''): string =>
  `GET /chat HTTP/1.1\r\nHost: app.localhost\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n${extra}\r\n`

async function echoBed(t: Parameters<typeof testBed>[0]): Promise<{ bed: TestBed; port: number; sockets: Duplex[] }> {
  const bed = await testBed(t)
  const sockets: Duplex[] = []
  const app = await bed.application((_, response) => response.end('plain'))
  app.on('upgrade', (request, socket: Duplex, early: Buffer) => {
    sockets.push(socket)
    socket.on('error', () => socket.destroy())
    const sender = request.headers['x-forwarded-for']
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Sender: ${sender}\r\n\r\n`,
    )
    if (early.length > 0) socket.write(early)
    socket.pipe(socket)
  })
  await bed.lead([portOf(app)])
  return { bed, port: portOf(app), sockets }
}

test('an upgraded connection carries bytes both ways, including those sent early', async (t) => {
  const { bed, port } = await echoBed(t)
  const client = bed.raw(`${ask()}early`)
  let text = ''
  client.on('data', (chunk) => {
    text += chunk
  })
  await until('the early bytes come back', () => text.endsWith('early'))
  assert.match(
    text,
    /^HTTP\/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Sender: 127.0.0.1\r\n\r\n/,
  )
  client.write('later')
  await until('later bytes come back', () => text.endsWith('later'))
  const endpoints = [{ address: '127.0.0.1', port }]
  assert.deepEqual((await bed.tell('POST', '/drain', { endpoints, timeoutMs: 20 })).body, { open: 1 })
  client.destroy()
  assert.deepEqual((await bed.tell('POST', '/drain', { endpoints, timeoutMs: 5_000 })).body, { open: 0 })
})

test('one side of an upgraded connection ends when the other does', async (t) => {
  const { bed, sockets } = await echoBed(t)
  const client = bed.raw(ask())
  await once(client, 'data')
  sockets[0]?.destroy()
  await once(client, 'close')
  const second = bed.raw(ask())
  await once(second, 'data')
  second.destroy()
  await until('the side of the application ended', () => sockets[1]?.destroyed === true)
})

test('all bytes of an upgraded connection arrive before its end', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application(() => {})
  app.on('upgrade', (_request, socket: Duplex) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
    socket.end('x'.repeat(5_000_000))
  })
  await bed.lead([portOf(app)])
  let length = 0
  // A client that reads slowly leaves bytes at the router when the application closes.
  for await (const chunk of bed.raw(ask())) {
    length += chunk.length
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.ok(length > 5_000_000, `${length} bytes`)
})

test('a declined upgrade is answered and its connection closed', async (t) => {
  const bed = await testBed(t)
  let requests = 0
  const app = await bed.application((_, response) => {
    requests++
    response.writeHead(426, { 'X-Why': 'no' })
    response.end('declined')
  })
  await bed.lead([portOf(app)])
  const text = await untilClosed(bed.raw(`${ask()}GET /second HTTP/1.1\r\nHost: app.localhost\r\n\r\n`))
  assert.match(text, /^HTTP\/1.1 426 /)
  assert.match(text, /X-Why: no\r\n/)
  assert.match(text, /Connection: close\r\n/)
  assert.equal(requests, 1)
})

test('upgrades to HTTP/2, with a body or without a protocol are rejected', async (t) => {
  const { bed } = await echoBed(t)
  const head = 'GET / HTTP/1.1\r\nHost: app.localhost\r\n'
  const h2c = `${head}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`
  assert.match(await untilClosed(bed.raw(h2c)), /^HTTP\/1.1 400 /)
  assert.match(await untilClosed(bed.raw(`${ask('Content-Length: 4\r\n')}GET `)), /^HTTP\/1.1 400 /)
  assert.match(await untilClosed(bed.raw(ask().replace('app.', 'other.'))), /^HTTP\/1.1 404 /)
  const closed = await bed.application(() => {})
  const port = portOf(closed)
  await new Promise((resolve) => closed.close(resolve))
  await bed.lead([port])
  assert.match(await untilClosed(bed.raw(ask())), /^HTTP\/1.1 502 /)
})
