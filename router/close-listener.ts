import type { Server } from 'node:net'

/** After this many turns the listener closes even if connections still arrive. */
const mostTurns = 1000

/**
 * Closes a listener whose port another process listens on too. Connections that the kernel has
 * queued for this listener would be reset with it, and the event loop accepts one a turn. So it
 * closes right after a turn that accepted none. Settles when `close` calls back.
 */
export async function closeListener(server: Server): Promise<void> {
  let taken = 0
  const count = (): void => void taken++
  server.on('connection', count)
  // The current turn may have polled already.
  await turn()
  for (let before = -1, turns = 0; taken !== before && turns < mostTurns; turns++) {
    before = taken
    await turn()
  }
  await new Promise<void>((resolve) => void server.close(() => resolve()))
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
