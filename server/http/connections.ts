import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type ConnectionLimits, ConnectionShares } from '@quayside/contract/connection-shares.ts'
import { networkList, plainAddress } from '@quayside/contract/forwarded.ts'
import type { Logger } from '../lib/log.ts'

export interface ConnectionOptions {
  readonly connectionLimits: ConnectionLimits
  readonly trustedProxies: readonly string[]
  readonly log: Logger
}

/**
 * Shares the connections of the API port among its clients. A WebSocket stream keeps its
 * connection in use until it closes. Returns a function that closes the connections on which no
 * byte has arrived: once its listener is closed, Node.js does not limit their time any more.
 */
export function limitConnections(
  server: Server,
  { connectionLimits, trustedProxies, log }: ConnectionOptions,
): () => void {
  const shares = new ConnectionShares<Socket>(connectionLimits, networkList(trustedProxies))
  // Thousands of connections stay open, so all of them share these listeners.
  function forgetThis(this: Socket): void {
    shares.forget(this)
  }
  function endThis(this: ServerResponse): void {
    shares.end(this.req.socket)
  }
  server.on('connection', (socket: Socket) => {
    const address = plainAddress(socket.remoteAddress ?? '') ?? '0.0.0.0'
    const admission = shares.admit(socket, address)
    if (admission.isAdmitted) {
      admission.closes?.destroy()
      socket.on('close', forgetThis)
      return
    }
    log.debug({ address }, 'connection refused: the client has reached its limit, or no connection is idle')
    socket.on('error', () => socket.destroy())
    socket.resetAndDestroy()
  })
  server.on('request', ({ socket }, response) => {
    shares.begin(socket)
    response.on('close', endThis)
  })
  server.on('upgrade', ({ socket }) => shares.begin(socket))
  return () => {
    for (const socket of shares.all) if (socket.bytesRead === 0) socket.destroy()
  }
}
