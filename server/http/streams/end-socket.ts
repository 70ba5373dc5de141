import type { Duplex } from 'node:stream'

/** The time for a client to read the last reply and to close its side. */
const lingerMs = 2_000

/**
 * Ends a connection that has left HTTP. Node.js would keep it until the client ends its side too.
 * Bytes that the client still sends are dropped.
 */
export function endSocket(socket: Duplex, last: string): void {
  socket.resume()
  socket.end(last)
  AbortSignal.timeout(lingerMs).addEventListener('abort', () => socket.destroy(), { once: true })
}
