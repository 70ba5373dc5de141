import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { until } from '../../server/workflows/testing.ts'
import { createPlatform } from '../support/platform.ts'

/**
 * Group N: how many connections to the API one client may have. Addresses of 127.0.0.0/8 stand for
 * clients.
 */

const platform = await createPlatform(
  { after },
  {
    settings: {
      QUAYSIDE_ROUTER_CONNECTIONS: '60',
      QUAYSIDE_ROUTER_CONNECTIONS_PER_CLIENT: '20',
      QUAYSIDE_TRUSTED_PROXIES: '127.0.0.4',
    },
  },
)
const port = Number(new URL(await platform.listen()).port)

const hold = async (count: number, localAddress: string): Promise<Socket[]> => {
  const made = Array.from({ length: count }, () => connect({ port, host: '127.0.0.1', localAddress }))
  for (const socket of made) socket.on('error', () => socket.destroy()).resume()
  await Promise.all(made.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])))
  return made
}
const alive = (sockets: readonly Socket[]): number => sockets.filter(({ destroyed }) => !destroyed).length
const release = async (...all: readonly (readonly Socket[])[]): Promise<void> => {
  for (const socket of all.flat()) socket.destroy()
  await until('a client is served again', async () => (await ask('127.0.0.2')) === '401')
}

/** Returns the status of an answer over a new connection, or the reason why there is none. */
const ask = (localAddress: string): Promise<string> =>
  new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, path: '/organization', localAddress, agent: false }
    const asked = request(options, (answer) => resolve(String(answer.resume().statusCode)))
    asked.on('error', ({ message }) => resolve(message)).end()
  })

test('N34 an address that opens many connections to the API gets its share, and another one is served', async () => {
  const held = await hold(70, '127.0.0.2')
  await until('the connections beyond the share are closed', () => alive(held) === 20)
  assert.equal(await ask('127.0.0.3'), '401')
  assert.match(await ask('127.0.0.2'), /hang up|ECONNRESET/)
  await release(held)
})

test('N35 the longest idle connection to the API is closed when all are taken', async () => {
  const first = await hold(20, '127.0.0.5')
  const others = [await hold(20, '127.0.0.6'), await hold(20, '127.0.0.7')]
  assert.equal(await ask('127.0.0.8'), '401')
  await until('the longest idle connection is closed', () => alive(first) === 19)
  assert.deepEqual(others.map(alive), [20, 20])
  await release(first, ...others)
})

test('N36 a trusted proxy may have nine tenths of the connections to the API', async () => {
  const held = await hold(60, '127.0.0.4')
  await until('the proxy has its share', () => alive(held) === 54)
  await release(held)
})
