import type { Server } from 'node:net'

/** After this many turns the listener closes even if connections still arrive. */
const mostTurns = 1000

/**
 * Closes a listener whose port another process listens on too. Settles when `close` calls back.
 */
export async function closeListener(server: Server): Promise<void> {
  await acceptWaiting(server)
  await new Promise<void>((resolve) => void server.close(() => resolve()))
}

/**
 * Accepts the connections that wait for a listener. Must be awaited right before it is closed.
 * Connections that the kernel has queued for it would be reset with it, and the event loop accepts
 * one a turn. So this settles right after a turn that accepted none.
 */
export async function acceptWaiting(server: Server): Promise<void> {
  let taken = 0
  const count = (): void => void taken++
  server.on('connection', count)
  // The current turn may have polled already.
  await turn()
  for (let before = -1, turns = 0; taken !== before && turns < mostTurns; turns++) {
    before = taken
    await turn()
  }
  server.off('connection', count)
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
