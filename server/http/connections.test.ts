import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { usualConnections } from '@quayside/contract/connection-shares.ts'
import { silentLogger } from '../lib/log.ts'
import { limitConnections } from './connections.ts'

test('closes the connections on which no byte has arrived, and no other', async (t) => {
  const server = createServer()
  const options = { connectionLimits: usualConnections, trustedProxies: [], log: silentLogger }
  const closeSilent = limitConnections(server, options)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const open = async () => {
    const accepted = once(server, 'connection')
    const socket = connect(port, '127.0.0.1')
    t.after(() => socket.destroy())
    await accepted
    return socket
  }
  const [silent, begun] = [await open(), await open()]
  const request = once(server, 'request')
  begun.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n')
  const [, response] = await request
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  closeSilent()
  await once(silent, 'close')
  response.end('finished')
  const [answer] = await once(begun, 'data')
  assert.match(String(answer), /finished/)
  begun.end()
  await closed
})
