import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/**
 * Closes the connection of a client that ends it before the router reads on. Without a reader,
 * Node.js notices no end. Bytes of the client stay in order for the next reader. The returned
 * function ends the watch.
 */
export function watchClientEnd(client: Duplex): () => void {
  // A stream of HTTP/2 notices it by itself.
  if (!(client instanceof Socket)) return () => {}
  const look = (): void => {
    if (client.readableLength === 0) client.read()
  }
  const close = (): void => void client.destroy()
  client.on('readable', look).once('end', close)
  return () => void client.off('readable', look).off('end', close)
}
