import { once } from 'node:events'
import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { addresses } from '../cluster/settings.ts'

/** A port at the address of the node, which pods reach. */
export interface NodeForward extends AsyncDisposable {
  /** `address:port`. */
  readonly place: string
  readonly port: number
}

/** Forwards connections of pods to a program that listens on this machine alone. */
export async function forwardFromNode(to: NetConnectOpts): Promise<NodeForward> {
  const open = new Set<Socket>()
  const server = createServer((from) => {
    const target = connect(to)
    for (const socket of [from, target]) {
      open.add(socket)
      socket.once('close', () => open.delete(socket))
    }
    // A side that breaks ends the other one. The client sees that.
    pipeline(from, target, from, () => {})
  })
  server.listen(0, addresses.node)
  await once(server, 'listening')
  const bound = server.address()
  const port = typeof bound === 'object' ? (bound?.port ?? 0) : 0
  return {
    place: `${addresses.node}:${port}`,
    port,
    [Symbol.asyncDispose]: async () => {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}
