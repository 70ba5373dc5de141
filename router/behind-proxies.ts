import { networkList } from '@quayside/contract/forwarded.ts'
import { addressOf, nameClient } from './client-address.ts'
import { refuseConnection } from './connections.ts'
import { judgeFirst, wrapAccept } from './first-bytes.ts'
import { readProxyHeader } from './proxy-header.ts'
import type { Traffic } from './traffic.ts'
import type { Front } from './traffic-server.ts'

/**
 * Has a server read the PROXY header of connections from these networks. One without a valid header
 * is closed, and it is not looked for in connections from elsewhere: a client must not name itself.
 */
export function readProxyHeaders({ server, connections }: Front, traffic: Traffic, networks: readonly string[]): void {
  const isProxy = networkList(networks)
  wrapAccept(server, (accept) => (socket) => {
    if (!isProxy(addressOf(socket))) {
      accept(socket)
      return
    }
    judgeFirst(socket, (first) => {
      const header = readProxyHeader(first)
      if (header === 'more') return undefined
      if (header !== 'invalid') {
        if (header.client === undefined) return { accept, skip: header.bytes }
        nameClient(socket, header.client)
        const isAdmitted = connections.rename(socket)
        return { accept: isAdmitted ? accept : () => refuseConnection(traffic, socket), skip: header.bytes }
      }
      traffic.counts.refused++
      traffic.log.warn('connection refused: its proxy sent no PROXY header', { endpoint: addressOf(socket) })
      return { accept: () => socket.destroy(), skip: 0 }
    })
  })
}
