import type { Socket } from 'node:net'
import { type Clock, systemClock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { nobodyWaits } from '../lib/nobody-waits.ts'
import type { Database } from './database.ts'
import { connectSocket, type Target } from './driver-socket.ts'
import { connect } from './pool.ts'

const everyMs = 1000
/** Pings while nothing waits for PostgreSQL: one in this many seconds. */
const quietSeconds = 5
const turnMs = 500
/** After this many missed pings PostgreSQL is considered unresponsive. */
const deafAfterTurns = 10
/** The limit of slow work, and of waiting behind it. */
const patienceSeconds = 20

/** Distinguishes an unresponsive PostgreSQL or network from a slow one. */
export interface Pulse {
  /**
   * Returns the outcome of `work`. Rejects with `unavailable` as soon as PostgreSQL is
   * unresponsive, and after 20 s. Sent statements may still be executed.
   */
  whileHeard<T>(work: () => Promise<T>): Promise<T>
  stop(): Promise<void>
}

const isConnectTimeout = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'CONNECT_TIMEOUT'

const deaf = (): AppError => new AppError('unavailable', 'The database does not answer. Try again in a moment.')

const slow = (): AppError =>
  new AppError('unavailable', `The database did not answer within ${patienceSeconds} s. Try again in a moment.`)

/**
 * Pings on its own connection once a second while something waits, otherwise every five seconds. A
 * refused connection is an answer: callers get that error anyway.
 */
export function createPulse({ url, clock = systemClock }: { readonly url: string; readonly clock?: Clock }): Pulse {
  const stopping = new AbortController()
  /** With the seconds that each has waited. */
  const waiting = new Map<(reason: AppError) => void, number>()
  let isDeaf = false

  /**
   * Counted in turns instead of by the clock, because a process that was frozen itself must not
   * consider PostgreSQL unresponsive.
   */
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
    for (let quiet = 0; !stopping.signal.aborted; quiet++) {
      const isDue = isDeaf || waiting.size > 0 || quiet % quietSeconds === 0
      isDeaf = isDue && !(await beat(sql))
      if (isDeaf) {
        for (const reject of waiting.keys()) reject(deaf())
        // A connection that a network swallowed never recovers. The next ping opens another one.
        socket?.destroy()
      }
      await clock.sleep(everyMs, stopping.signal).catch(() => {})
    }
    await sql.end({ timeout: 1 })
  }
  /** Counted like pings, and for all of them together, because most are answered long before. */
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
