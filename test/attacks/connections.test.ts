import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { portOf, testBed } from '../../router/test-bed.ts'
import { findFreePort } from '../support/free-port.ts'
import { until } from '../support/until.ts'

/**
 * Group N: how many connections to the router one client may have. Addresses of 127.0.0.0/8 stand
 * for clients.
 */

const connections = { total: 2_000, perClient: 500 }

async function bedFor(t: TestContext, options: Parameters<typeof testBed>[1] = {}) {
  const bed = await testBed(t, { connections, ...options })
  const app = await bed.application((_request, response) => response.end('served'))
  await bed.lead([portOf(app)])
  const open: Socket[] = []
  t.after(() => {
    for (const socket of open) socket.destroy()
  })
  return {
    bed,
    /** Opens connections, no more at a time than the kernel queues for the router. */
    hold: async (count: number, localAddress: string, port = bed.router.port): Promise<Socket[]> => {
      const made: Socket[] = []
      for (let left = count; left > 0; left -= 100) {
        const some = Array.from({ length: Math.min(left, 100) }, () =>
          connect({ port, host: '127.0.0.1', localAddress }),
        )
        for (const socket of some) socket.on('error', () => socket.destroy()).resume()
        made.push(...some)
        open.push(...some)
        // The router may close a connection beyond the share while it is being opened.
        const ready = some.map((socket) =>
          Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => {}),
        )
        await Promise.all(ready)
      }
      return made
    },
    /** Returns the answer to a client at this address, over a new connection. */
    ask: (localAddress: string): Promise<string> =>
      new Promise((resolve) => {
        const headers = { host: 'app.localhost' }
        const asked = request(
          { host: '127.0.0.1', port: bed.router.port, localAddress, headers, agent: false },
          (answer) => {
            answer.on('data', (chunk: Buffer) => resolve(chunk.toString()))
          },
        )
        asked.on('error', (error) => resolve(error.message)).end()
      }),
  }
}
const alive = (sockets: readonly Socket[]): number => sockets.filter(({ destroyed }) => !destroyed).length

test('N20 an address that opens thousands of connections gets its share, and another one is served', async (t) => {
  const { hold, ask } = await bedFor(t)
  const held = await hold(3_000, '127.0.0.2')
  await until('the connections beyond the share are closed', () => alive(held) === connections.perClient)
  assert.equal(await ask('127.0.0.3'), 'served')
  assert.match(await ask('127.0.0.2'), /hang up|ECONNRESET/)
  for (const socket of held) socket.destroy()
  await until('its share is free again', async () => (await ask('127.0.0.2')) === 'served')
})

test('N21 the longest idle connection is closed when all are taken, and requests in progress continue', async (t) => {
  const { bed, hold, ask } = await bedFor(t, { connections: { total: 20, perClient: 10 } })
  let answer = (): void => {}
  const slow = await bed.application((_request, response) => {
    answer = () => response.end('late')
  })
  await bed.lead([portOf(slow)])
  const waiting = ask('127.0.0.9')
  await until('it waits', async () => Number(Object((await bed.tell('GET', '/health')).body['counts'])['open']) === 1)
  const first = await hold(10, '127.0.0.2')
  const second = await hold(10, '127.0.0.3')
  await until('the longest idle connection is closed', () => alive(first) === 9)
  assert.equal(alive(second), 10)
  answer()
  assert.equal(await waiting, 'late')
})

test('N22 a trusted proxy may have more connections than a client', async (t) => {
  const { hold } = await bedFor(t, { trusted: ['127.0.0.4'], connections: { total: 100, perClient: 10 } })
  const held = await hold(100, '127.0.0.4')
  await until('nine tenths are kept', () => alive(held) === 90)
})

test('N23 connections to a TCP port are shared in the same way', async (t) => {
  const { bed, hold } = await bedFor(t, { connections: { total: 60, perClient: 25 } })
  const server = createServer((socket) => void socket.on('error', () => socket.destroy()).pipe(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const [application, port] = [portOf(server), await findFreePort()]
  await bed.lead([application], { host: `app.localhost:${port}`, listen: { protocol: 'TCP', port } })
  const first = await hold(60, '127.0.0.2', port)
  await until('one client has its share', () => alive(first) === 25)
  const second = await hold(25, '127.0.0.3', port)
  const third = await hold(25, '127.0.0.4', port)
  await until('all connections are taken', () => alive(first) + alive(second) + alive(third) === 60)
  assert.deepEqual([alive(second), alive(third)], [25, 25])
})

test('N24 a client that never closes its side holds no connection after its last answer', async (t) => {
  const { bed } = await bedFor(t)
  const ending = {
    'an upgrade without a route':
      'GET / HTTP/1.1\r\nHost: nobody.localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    'an upgrade that the application declines':
      'GET / HTTP/1.1\r\nHost: app.localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    'a tunnel': 'CONNECT app.localhost:1 HTTP/1.1\r\nHost: app.localhost:1\r\n\r\n',
  }
  await Promise.all(
    Object.entries(ending).map(async ([what, text]) => {
      const client = connect({ port: bed.router.port, host: '127.0.0.1', allowHalfOpen: true })
      t.after(() => client.destroy())
      client.on('error', () => client.destroy())
      let answer = ''
      client.on('data', (chunk) => {
        answer += chunk
      })
      client.write(text)
      await once(client, 'end')
      assert.match(answer, /^HTTP\/1\.1 \d{3} /, what)
      await until(`${what} is closed`, () => !client.write('more') && client.destroyed)
    }),
  )
})
