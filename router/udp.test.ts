import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { test } from 'node:test'
import type { Route } from '@quayside/contract/routes.ts'
import { until } from '../test/support/until.ts'
import { limits } from './limits.ts'
import { type TestBed, testBed } from './test-bed.ts'

type Life = Parameters<typeof testBed>[0]

/** A socket of the test, with all datagrams that it received. */
async function socketOf(t: Life, port = 0, address = '127.0.0.1') {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve, reject) => socket.once('error', reject).bind(port, address, resolve))
  const heard: string[] = []
  socket.on('message', (datagram) => heard.push(String(datagram)))
  let isOpen = true
  const close = (): Promise<void> => {
    if (!isOpen) return Promise.resolve()
    isOpen = false
    return new Promise((resolve) => socket.close(() => resolve()))
  }
  t.after(close)
  return { socket, heard, close, port: socket.address().port }
}
/** An application that answers with its name and the datagram. */
async function answering(t: Life, name: string) {
  const app = await socketOf(t)
  app.socket.on('message', (datagram, { port, address }) => app.socket.send(`${name} ${datagram}`, port, address))
  return app
}
let version = 0
async function leadPort(bed: TestBed, port: number, ports: readonly number[], more: Partial<Route> = {}) {
  const endpoints = ports.map((each) => ({ address: '127.0.0.1', port: each }))
  const listen = { protocol: 'UDP', port } as const
  const route: Route = { host: `localhost:${port}`, listen, service: 's', name: 'dns', endpoints, ...more }
  const answer = await bed.tell('PUT', '/routes', { version: ++version, routes: [route] })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body
}
/** The same with a free port. Returns the port. */
async function leadFreePort(bed: TestBed, ports: readonly number[], more: Partial<Route> = {}): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 30_000)
    if (!(await leadPort(bed, port, ports, more))['taken']) return port
  }
}
/** Sends until an answer arrives, because datagrams may be lost. */
const asks = (client: Awaited<ReturnType<typeof socketOf>>, port: number, text: string, answer: string) =>
  until(`${answer} is heard`, () => {
    client.socket.send(text, port, '127.0.0.1')
    return client.heard.includes(answer)
  })

test('each client gets its own answers, and its next datagrams follow the table', async (t) => {
  const bed = await testBed(t)
  const [a, b] = [await answering(t, 'a'), await answering(t, 'b')]
  const port = await leadFreePort(bed, [a.port])
  const [one, two] = [await socketOf(t), await socketOf(t)]
  await asks(one, port, 'first', 'a first')
  await asks(two, port, 'other', 'a other')
  assert.ok(!one.heard.includes('a other') && !two.heard.includes('a first'))
  const endpoints = [{ address: '127.0.0.1', port: a.port }]
  assert.deepEqual((await bed.tell('POST', '/drain', { endpoints, timeoutMs: 1 })).body, { open: 2 })
  await leadPort(bed, port, [b.port])
  await asks(one, port, 'second', 'b second')
  // A silent client does not hold the previous version.
  assert.deepEqual((await bed.tell('POST', '/drain', { endpoints, timeoutMs: 60_000 })).body, { open: 0 })
  assert.ok(limits.udpLeavingMs < limits.udpIdleMs)
})

test('a datagram wakes a sleeping service and is then delivered', async (t) => {
  const bed = await testBed(t)
  const port = await leadFreePort(bed, [], { asleep: true })
  const wakes = bed.tell('POST', '/wakes', { sequence: 0, timeoutMs: 60_000 })
  const client = await socketOf(t)
  client.socket.send('early', port, '127.0.0.1')
  assert.deepEqual((await wakes).body['services'], ['s'])
  const app = await answering(t, 'woken')
  await leadPort(bed, port, [app.port])
  await until('what was sent early is answered', () => client.heard.includes('woken early'))
})

test('clients leave a dead replica, and denied networks are ignored', async (t) => {
  const bed = await testBed(t)
  const [gone, app] = [await socketOf(t), await answering(t, 'here')]
  await gone.close()
  const port = await leadFreePort(bed, [gone.port, app.port])
  const client = await socketOf(t)
  await asks(client, port, 'hello', 'here hello')
  await leadPort(bed, port, [app.port], { rules: { deny: ['127.0.0.0/8'] } })
  const before = Object(await bed.tell('GET', '/health')).body.counts.refused
  const denied = await socketOf(t)
  await until('it is refused', async () => {
    denied.socket.send('hello', port, '127.0.0.1')
    return Object(await bed.tell('GET', '/health')).body.counts.refused > before
  })
  assert.deepEqual(denied.heard, [])
})

test('the router reports a UDP port of another program, and opens it once it is free', async (t) => {
  const bed = await testBed(t)
  const [other, app, client] = [await socketOf(t), await answering(t, 'in'), await socketOf(t)]
  assert.deepEqual((await leadPort(bed, other.port, [app.port]))['taken'], [other.port])
  await other.close()
  await asks(client, other.port, 'hello', 'in hello')
  assert.equal((await bed.tell('PUT', '/routes', { version: ++version, routes: [] })).status, 200)
  const isFree = (): Promise<boolean> =>
    socketOf(t, other.port).then(
      () => true,
      () => false,
    )
  await until('the port is free', isFree)
})

test('one address gets a limited share of the clients of a port, from however many ports', async (t) => {
  const bed = await testBed(t)
  const app = await answering(t, 'in')
  const port = await leadFreePort(bed, [app.port])
  const openNow = async (): Promise<number> => Object(await bed.tell('GET', '/health')).body.counts.open
  const senders = await Promise.all(Array.from({ length: limits.udpClientsPerAddress + 8 }, () => socketOf(t)))
  const unheard = () => senders.filter(({ heard }) => heard.length === 0)
  await until('the address has its part', () => {
    // At most as many at a time as the kernel queues for the router.
    for (const { socket } of unheard().slice(0, 50)) socket.send('flood', port, '127.0.0.1')
    return unheard().length === 8
  })
  assert.equal(await openNow(), limits.udpClientsPerAddress)
  const other = await socketOf(t, 0, '127.0.0.2')
  await asks(other, port, 'hello', 'in hello')
  assert.equal(await openNow(), limits.udpClientsPerAddress + 1)
})
