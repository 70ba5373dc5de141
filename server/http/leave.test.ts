import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { test } from 'node:test'
import fastify from 'fastify'
import { systemClock as clock } from '../lib/clock.ts'
import { leave } from './leave.ts'

test('a server that leaves answers requests and ends each kept connection after its next response', async (t) => {
  const app = fastify()
  app.get('/', async () => ({ answered: true }))
  await app.listen({ host: '127.0.0.1', port: 0 })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(async () => {
    agent.destroy()
    await app.close()
  })
  const bound = app.server.address()
  const port = typeof bound === 'object' ? bound?.port : 0
  const ask = async () => {
    const sent = request({ host: '127.0.0.1', port, agent }).end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage] // the type of the event
    await answer.resume().toArray()
    return { status: answer.statusCode, connection: answer.headers.connection, isReused: sent.reusedSocket }
  }
  await ask()
  assert.deepEqual(await ask(), { status: 200, connection: 'keep-alive', isReused: true })
  const leaving = leave(app.server, { seconds: 1, clock })
  assert.deepEqual(await ask(), { status: 200, connection: 'close', isReused: true })
  assert.deepEqual(await ask(), { status: 200, connection: 'close', isReused: false })
  await leaving
})

test('a server that need not leave stops at once', async () => {
  const app = fastify()
  await leave(app.server, { seconds: 0, clock })
  assert.equal(app.server.listenerCount('request'), 1)
})
