import type { Duplex } from 'node:stream'
import { after } from './clock.ts'
import { limits } from './limits.ts'

/**
 * Ends a connection that has left HTTP, whatever its client does: Node.js keeps such a connection until the client ends its side too. What the
 * client still sends is dropped, so it can read the answer before the connection is closed.
 */
export function endConnection(client: Duplex, last?: Buffer | string): void {
  client.resume()
  client.end(last)
  const cancel = after(limits.lingerMs, () => client.destroy())
  client.once('close', cancel)
}
