import type { Server, Socket } from 'node:net'
import { reportConnection } from '../connection-facts.ts'
import { readProxyHeader } from '../proxy-header.ts'
import { readDetails } from './connection-details.ts'

/**
 * Has a server accept connections that begin with a header of the PROXY protocol. The server's own
 * listeners get a connection once its header is read. A connection without one is closed. Must be
 * called after the server has all its listeners.
 */
export function acceptProxied(server: Server): void {
  const listeners = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const fail = (): void => void socket.destroy()
    let early: Buffer = Buffer.alloc(0)
    const read = (): void => {
      const chunk: unknown = socket.read()
      if (!Buffer.isBuffer(chunk)) return
      early = early.length === 0 ? chunk : Buffer.concat([early, chunk])
      const header = readProxyHeader(early)
      if (header === 'more') return
      socket.off('readable', read).off('end', fail)
      if (header === 'invalid' || header.client === undefined) {
        fail()
        return
      }
      reportConnection(socket, { address: header.client, ...readDetails(header.details ?? Buffer.alloc(0)) })
      if (early.length > header.bytes) socket.unshift(early.subarray(header.bytes))
      // Only in the next turn does the stream notice that its last reader has left.
      setImmediate(() => {
        socket.off('error', fail)
        if (socket.destroyed) return
        for (const listener of listeners) listener.call(server, socket)
      })
    }
    // HAProxy leaves before it has sent anything if its client does.
    socket.on('error', fail).on('end', fail)
    socket.on('readable', read)
  })
}
