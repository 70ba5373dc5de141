import { beginsHttp2, judgeFirst, takeListener } from './first-bytes.ts'
import { Sessions } from './sessions.ts'
import type { Traffic } from './traffic.ts'
import type { Front } from './traffic-server.ts'

/** Proxies that end TLS pass on the scheme of their client or their own. */
const schemes = ['http', 'https']

/**
 * Has a server without TLS accept HTTP/2 as well, by the first bytes of a connection. For routers
 * behind a proxy: gRPC needs HTTP/2.
 */
export function acceptHttp2(traffic: Traffic, front: Front): Front {
  const { server, connections } = front
  const sessions = new Sessions(traffic, connections)
  const acceptHttp1 = takeListener(server)
  const acceptSession = { accept: (socket: Parameters<typeof acceptHttp1>[0]) => accept(socket), skip: 0 }
  const accept = (socket: Parameters<typeof acceptHttp1>[0]): void =>
    sessions.accept({ socket, below: socket, schemes })
  server.on('connection', (socket) => {
    if (socket.destroyed) return
    judgeFirst(socket, (first) => {
      const isHttp2 = beginsHttp2(first)
      if (isHttp2 === undefined) return undefined
      return isHttp2 ? acceptSession : { accept: acceptHttp1, skip: 0 }
    })
  })
  return { ...front, leave: () => sessions.leave() }
}
