import type { Server } from 'node:net'
import { performance } from 'node:perf_hooks'

/** After this many turns a listener closes even if other work never pauses. */
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
 * one a turn. So this settles right after a turn that had no event at all: the work of other events
 * takes time, in which connections arrive. If such work never pauses, it settles after a turn that
 * accepted none.
 */
export async function acceptWaiting(server: Server): Promise<void> {
  let taken = 0
  const count = (): void => void taken++
  server.on('connection', count)
  // The current turn may have polled already.
  await turn()
  if (!(await becameQuiet(() => performance.nodeTiming.uvMetricsInfo.events))) await becameQuiet(() => taken)
  server.off('connection', count)
}

/** Waits for a turn in which a count does not change. Returns whether there was one in time. */
async function becameQuiet(read: () => number): Promise<boolean> {
  for (let turns = 0, before = read(); turns < mostTurns; turns++) {
    await turn()
    const now = read()
    if (now === before) return true
    before = now
  }
  return false
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
