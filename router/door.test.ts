import assert from 'node:assert/strict'
import { Agent, type ServerResponse } from 'node:http'
import test from 'node:test'
import { usualConnections } from '@quayside/contract/connection-shares.ts'
import { platformService } from '@quayside/contract/routes.ts'
import { until } from '../test/support/until.ts'
import { type Ask, portOf, testBed } from './test-bed.ts'

const door = { service: platformService, secret: 'hidden' }

test('one client cannot take all open requests at the platform', async (t) => {
  const bed = await testBed(t, { connections: { ...usualConnections, perClient: 40 } })
  const waiting: ServerResponse[] = []
  const app = await bed.application((request, response) => {
    if (request.url === '/wait') waiting.push(response)
    else response.end('answered')
  })
  await bed.lead([portOf(app)], { service: platformService })
  await bed.tell('PUT', '/tls', { certificates: [], challenges: [], mark: 'one', door })
  const from = (localAddress: string, ask: Ask = {}) => bed.ask({ ...ask, agent: new Agent({ localAddress }) })
  const held = Array.from({ length: 10 }, () => from('127.0.0.2', { path: '/wait' }))
  await until('its requests are open', () => waiting.length === 10)
  const refused = await from('127.0.0.2')
  assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '1'])
  assert.equal((await from('127.0.0.3')).body, 'answered')
  for (const response of waiting) response.end('answered')
  await Promise.all(held)
  await until('its share is free', async () => (await from('127.0.0.2')).status === 200)
})

test('upgraded connections to the platform count until they close', async (t) => {
  const bed = await testBed(t, { connections: { ...usualConnections, perClient: 8 } })
  const app = await bed.application((_, response) => response.end('answered'))
  app.on('upgrade', (_request, socket) => {
    socket.on('error', () => {}).on('end', () => socket.end())
    socket.resume()
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
  })
  await bed.lead([portOf(app)], { service: platformService })
  await bed.tell('PUT', '/tls', { certificates: [], challenges: [], mark: 'one', door })
  const head = 'GET / HTTP/1.1\r\nHost: app.localhost\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'
  const sockets = [bed.raw(head), bed.raw(head)]
  let switched = 0
  for (const socket of sockets) socket.once('data', () => switched++)
  await until('both are upgraded', () => switched === 2)
  assert.equal((await bed.ask()).status, 429)
  for (const socket of sockets) socket.destroy()
  await until('their share is free', async () => (await bed.ask()).status === 200)
})

test('clients of other services have no such limit', async (t) => {
  const bed = await testBed(t, { connections: { ...usualConnections, perClient: 40 } })
  const waiting: ServerResponse[] = []
  const app = await bed.application((_, response) => void waiting.push(response))
  await bed.lead([portOf(app)], { service: 'other' })
  await bed.tell('PUT', '/tls', { certificates: [], challenges: [], mark: 'one', door })
  const asked = Array.from({ length: 30 }, () => bed.ask())
  await until('all are open', () => waiting.length === 30)
  for (const response of waiting) response.end()
  for (const { status } of await Promise.all(asked)) assert.equal(status, 200)
})
