import type { Duplex } from 'node:stream'
import { after } from './clock.ts'
import { limits } from './limits.ts'

/**
 * Ends a connection that has left HTTP. Node.js would keep it until the client ends its side too.
 * Bytes that the client still sends are dropped, so it can read the answer before the connection
 * closes.
 */
export function endConnection(client: Duplex, last?: Buffer | string): void {
  client.resume()
  client.end(last)
  const cancel = after(limits.lingerMs, () => client.destroy())
  client.once('close', cancel)
}
