import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { SocketStream } from './socket-stream.ts'

test('a socket stream drops empty messages when the program does not read', async (t) => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  t.after(() => server.close())
  await once(server, 'listening')
  // The server listens on TCP, so its address is an object.
  const { port } = server.address() as AddressInfo
  const client = new WebSocket(`ws://127.0.0.1:${port}`)
  const [[webSocket, request]] = (await Promise.all([once(server, 'connection'), once(client, 'open')])) as [
    [WebSocket, { socket: Socket }],
    unknown,
  ]
  let writes = 0
  const program = new Duplex({ read: () => {}, write: () => {} })
  const write = program.write.bind(program)
  program.write = (...given: [unknown]) => {
    writes++
    return write(...given)
  }
  const check = async (): Promise<never> => assert.fail('nobody asks')
  const stream = new SocketStream({ webSocket, socket: request.socket, key: '', check, onRenew: () => {} })
  const carried = stream.carry(program)
  client.send(Buffer.from('x'))
  for (let sent = 0; sent < 50_000; sent++) client.send(Buffer.alloc(0))
  const pinged = once(client, 'pong')
  client.ping()
  await pinged
  client.close()
  await carried
  assert.equal(writes, 1)
})
