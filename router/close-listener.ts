import type { Server } from 'node:net'

/** Where connections come without end, the listener is closed all the same. */
const mostTurns = 1000

/**
 * Closes a listener whose port another process listens on, too. What the kernel has taken in for this one, and we have not yet, would be cut off
 * with it; the event loop takes one in a turn. So it is closed right after a turn in which none was waiting. Settles as `close` calls back.
 */
export async function closeListener(server: Server): Promise<void> {
  let taken = 0
  const count = (): void => void taken++
  server.on('connection', count)
  // The present turn may have looked before.
  await turn()
  for (let before = -1, turns = 0; taken !== before && turns < mostTurns; turns++) {
    before = taken
    await turn()
  }
  await new Promise<void>((resolve) => void server.close(() => resolve()))
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
