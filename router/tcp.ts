import { createServer, type Server, type Socket } from 'node:net'
import { refusalOfClient } from './apply-rules.ts'
import { Connections, refuseConnection } from './connections.ts'
import { limits } from './limits.ts'
import { reach } from './reach.ts'
import type { Traffic } from './traffic.ts'

/**
 * Creates a server that forwards connections to the endpoints of a route. It is not yet listening.
 */
export function createTcpServer(traffic: Traffic, hostNow: () => string | undefined): Server {
  const server = createServer({
    // One side may finish sending and still receive.
    allowHalfOpen: true,
    // Bytes that the client sends first must reach the application.
    pauseOnConnect: true,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: limits.tcpSilentMs,
  })
  const connections = new Connections(traffic.connections, traffic.trusts)
  server.on('connection', (client) => {
    if (!connections.admit(client)) {
      refuseConnection(traffic, client)
      return
    }
    connections.watchSilence()
    passConnection(traffic, client, hostNow())
  })
  return server
}

function passConnection(traffic: Traffic, client: Socket, host: string | undefined): void {
  client.on('error', () => client.destroy())
  traffic.counts.requests++
  const target = host === undefined ? undefined : traffic.routes.find(host)
  if (!target || host === undefined || (target.rules && refusalOfClient(client, target.rules))) {
    traffic.counts.refused++
    client.resetAndDestroy()
    return
  }
  traffic.counts.open++
  traffic.tunnels.add(client)
  client.once('close', () => {
    traffic.counts.open--
    traffic.tunnels.delete(client)
  })
  reach({
    traffic,
    client,
    host,
    service: target.route.service,
    allowHalfOpen: true,
    refuse: () => {
      traffic.counts.failed++
      client.resetAndDestroy()
    },
    converse: ({ socket }) => {
      traffic.services.recordConnection(target.route.service)
      traffic.services.watch(target.route.service, socket)
      passOn(client, socket)
      passOn(socket, client)
    },
  })
}

/**
 * Forwards the bytes and the end of one side to the other. If one side is reset, so is the other.
 */
function passOn(from: Socket, to: Socket): void {
  from.pipe(to)
  from.once('error', () => to.resetAndDestroy())
  from.once('close', () => {
    // After a clean end, the other side still has buffered bytes to send.
    if (!from.readableEnded || !from.writableFinished) to.destroy()
  })
}
