import type { Socket } from 'node:net'
import { type Clock, systemClock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { nobodyWaits } from '../lib/nobody-waits.ts'
import type { Database } from './database.ts'
import { connectSocket, type Target } from './driver-socket.ts'
import { connect } from './pool.ts'

const everyMs = 1000
const turnMs = 500
/** A PostgreSQL that has not answered the least of questions in so many turns is taken for deaf. */
const deafAfterTurns = 10
/** Nobody waits longer for what is slow, or stands behind what is slow. */
const patienceSeconds = 20

/** Tells a PostgreSQL that stands still, or that a network swallows, from one that is merely slow. */
export interface Pulse {
  /** The outcome of `work`; rejects with `unavailable` as soon as PostgreSQL is deaf, and after 20 s. What was sent may still be done later. */
  whileHeard<T>(work: () => Promise<T>): Promise<T>
  stop(): Promise<void>
}

const isConnectTimeout = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'CONNECT_TIMEOUT'

const deaf = (): AppError => new AppError('unavailable', 'The database does not answer. Try again in a moment.')

const slow = (): AppError =>
  new AppError('unavailable', `The database did not answer within ${patienceSeconds} s. Try again in a moment.`)

/** Asks on a connection of its own, once a second. A refused connection is an answer: those who ask are told so anyhow. */
export function createPulse({ url, clock = systemClock }: { readonly url: string; readonly clock?: Clock }): Pulse {
  const stopping = new AbortController()
  /** With the seconds that each has waited. */
  const waiting = new Map<(reason: AppError) => void, number>()
  let isDeaf = false

  /** Counted in turns, not by the clock: a process that itself stood still must not take PostgreSQL for deaf. */
  const beat = async (sql: Database): Promise<boolean> => {
    let heard: boolean | undefined
    const asked = sql`select 1`.then(
      () => (heard = true),
      (error: unknown) => (heard = !isConnectTimeout(error)),
    )
    for (let turn = 0; heard === undefined && turn < deafAfterTurns && !stopping.signal.aborted; turn++) {
      const over = new AbortController()
      const pause = clock.sleep(turnMs, AbortSignal.any([over.signal, stopping.signal])).catch(() => {})
      await Promise.race([asked, pause])
      over.abort(nobodyWaits)
    }
    return heard ?? stopping.signal.aborted
  }
  const watch = async (): Promise<void> => {
    let socket: Socket | undefined
    const opened = (target: Target): Socket => {
      socket = connectSocket(target)
      return socket
    }
    const sql = connect({ url, max: 1, name: 'quayside pulse' }, { onclose: () => {}, socket: opened })
    while (!stopping.signal.aborted) {
      isDeaf = !(await beat(sql))
      if (isDeaf) {
        for (const reject of waiting.keys()) reject(deaf())
        // Swallowed by a network it would never come back; the next beat opens another one.
        socket?.destroy()
      }
      await clock.sleep(everyMs, stopping.signal).catch(() => {})
    }
    await sql.end({ timeout: 1 })
  }
  /** Counted like beats, and for all of them at once: most are answered long before. */
  const lose = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await clock.sleep(1000, stopping.signal).catch(() => {})
      for (const [reject, seconds] of waiting) {
        waiting.set(reject, seconds + 1)
        if (seconds >= patienceSeconds) reject(slow())
      }
    }
  }
  const watching = Promise.all([watch(), lose()])

  return {
    whileHeard: <T>(work: () => Promise<T>): Promise<T> => {
      if (isDeaf) return Promise.reject(deaf())
      return new Promise<T>((resolve, reject) => {
        waiting.set(reject, 0)
        work()
          .then(resolve, reject)
          .finally(() => waiting.delete(reject))
      })
    },
    stop: async () => {
      stopping.abort()
      await watching
    },
  }
}
