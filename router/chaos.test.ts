import assert from 'node:assert/strict'
import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http'
import test from 'node:test'
import type { Random } from '../test/fuzz/random.ts'
import { seeded } from '../test/support/seed.ts'
import { until } from '../test/support/until.ts'
import { portOf, type TestBed, testBed } from './test-bed.ts'

const large = Buffer.alloc(300_000, 'z')

/** An application that misbehaves in every way it can. */
const misbehave: readonly ((request: IncomingMessage, response: ServerResponse) => void)[] = [
  (_, response) => response.end('fine'),
  (_, response) => response.end(large),
  (incoming) => incoming.socket.destroy(),
  (incoming) => incoming.socket.resetAndDestroy(),
  (incoming, response) => incoming.pipe(response),
  (incoming, response) => incoming.once('data', () => incoming.socket.destroy()).once('end', () => response.end()),
  (_, response) => {
    response.writeHead(200, { 'Content-Length': 400_000 })
    response.write(large, () => response.destroy())
  },
  (_, response) => {
    response.writeEarlyHints({ link: '</a>; rel=preload' })
    response.end('after a hint')
  },
  (_, response) => response.socket?.end('garbage\r\n\r\n'),
  (_, response) =>
    response.socket?.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
  (_, response) => {
    response.write('begun')
    setImmediate(() => response.end(large))
  },
  (_, response) => {
    response.writeHead(200, { Connection: 'close' })
    response.end('closing')
  },
]

/**
 * Sends one request that may have a body and may be aborted halfway. Always ends. Every choice is
 * drawn before the request is sent.
 */
function disturb(bed: TestBed, agent: Agent, dice: Random): Promise<void> {
  return new Promise((resolve) => {
    const method = dice.pick(['GET', 'POST', 'HEAD', 'DELETE', 'PUT'])
    const headers = { host: 'app.localhost', 'x-misbehave': String(dice.below(misbehave.length)) }
    const [leavesAnswer, hasBody, leaves] = [dice.percent(25), dice.percent(50), dice.percent(20)]
    const options = { host: '127.0.0.1', port: bed.router.port, method, agent, headers }
    const outgoing = request(options, (answer) => {
      if (leavesAnswer) answer.once('data', () => outgoing.destroy())
      answer.resume().on('error', () => {})
    })
    outgoing.on('error', () => {}).on('close', () => resolve())
    if (hasBody && (method === 'POST' || method === 'PUT')) outgoing.write(large)
    if (leaves) setImmediate(() => outgoing.destroy())
    else outgoing.end()
  })
}

test('the router survives misbehaving applications and clients and leaks no request', async (t) => {
  const bed = await testBed(t)
  const listener = (incoming: IncomingMessage, response: ServerResponse): void => {
    incoming.on('error', () => {})
    response.on('error', () => {})
    misbehave[Number(incoming.headers['x-misbehave'])]?.(incoming, response)
  }
  const apps = await Promise.all([1, 2].map(() => bed.application(listener)))
  const ports = apps.map(portOf)
  await bed.lead(ports)
  const agent = new Agent({ keepAlive: true, maxSockets: 24 })
  t.after(() => agent.destroy())
  const [clientCount, requests, swaps] = [24, 60, 10]
  let done = 0
  const client = async (_: unknown, index: number): Promise<void> => {
    const dice = seeded(t, `client ${index}`)
    for (let sent = 0; sent < requests; sent++) {
      await disturb(bed, agent, dice)
      done++
    }
  }
  const clients = Promise.all(Array.from({ length: clientCount }, client))
  for (let swap = 0; swap < swaps; swap++) {
    const share = Math.floor((clientCount * requests * swap) / swaps)
    await until(`${share} requests have ended`, () => done >= share)
    await bed.lead(swap % 2 ? ports : ports.slice(0, 1))
  }
  await clients
  const counts = async (): Promise<string> => JSON.stringify((await bed.tell('GET', '/health')).body['counts'])
  await until('no request is open', async () => (await counts()).includes('"open":0'))
  const endpoints = ports.map((port) => ({ address: '127.0.0.1', port }))
  assert.deepEqual((await bed.tell('POST', '/drain', { endpoints, timeoutMs: 5_000 })).body, { open: 0 })
  t.diagnostic(await counts())
  const steady = await bed.application((_, response) => response.end('steady'))
  await bed.lead([portOf(steady)])
  assert.equal((await bed.ask()).body, 'steady')
})
