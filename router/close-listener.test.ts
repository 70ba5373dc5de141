import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import { closeListener } from './close-listener.ts'
import { listen } from './listen.ts'
import { portOf } from './test-bed.ts'

const host = '127.0.0.1'

async function listener(t: TestContext): Promise<Server> {
  const server = createServer()
  await listen(server, { host, port: 0 })
  t.after(() => server.close())
  return server
}

/** Both ends of a connection to a server. */
async function pair(server: Server): Promise<readonly [Socket, Socket]> {
  const accepted = once(server, 'connection')
  const near = connect(portOf(server), host)
  const [far] = await accepted
  return [near, far]
}

/** Runs `work` among the events of the turn with this number, and does nothing in later turns. */
function workInTurn([near, far]: readonly [Socket, Socket], last: number, work: () => void): void {
  let turns = 0
  far.on('data', () => {
    turns++
    if (turns === last) work()
    // The byte is there in the next turn.
    else near.write('x')
  })
  near.write('x')
}

for (const last of [1, 2]) {
  test(`a connection that arrives during the work of turn ${last} is not reset`, async (t) => {
    const other = await listener(t)
    const ends = await pair(other)
    t.after(() => ends.forEach((end) => void end.destroy()))
    const server = await listener(t)
    server.on('connection', (socket) => socket.end('accepted'))
    const ended = Promise.withResolvers<string>()
    workInTurn(ends, last, () => {
      const client = connect(portOf(server), host)
      let text = ''
      client.on('data', (chunk) => {
        text += String(chunk)
      })
      client.once('error', ({ message }) => ended.resolve(message)).once('close', () => ended.resolve(text))
    })
    await closeListener(server)
    assert.equal(await ended.promise, 'accepted')
  })
}

test('a listener closes although other work never pauses', { timeout: 60_000 }, async (t) => {
  const other = await listener(t)
  const [near, far] = await pair(other)
  t.after(() => [near, far].forEach((end) => void end.destroy()))
  far.on('data', () => near.write('x'))
  near.write('x')
  const server = await listener(t)
  await closeListener(server)
  assert.equal(server.listening, false)
})
