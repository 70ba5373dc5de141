import { type Accept, beginsHttp2, judgeFirst, wrapAccept } from './first-bytes.ts'
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
  const acceptSession: Accept = (socket) => sessions.accept({ socket, below: socket, schemes })
  wrapAccept(server, (acceptHttp1) => (socket) => {
    judgeFirst(socket, (first) => {
      const isHttp2 = beginsHttp2(first)
      return isHttp2 === undefined ? undefined : { accept: isHttp2 ? acceptSession : acceptHttp1, skip: 0 }
    })
  })
  return { ...front, leave: () => sessions.leave() }
}
