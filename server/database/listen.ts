import { systemClock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import { connect } from './pool.ts'

export interface Listening {
  readonly url: string
  readonly channel: string
  readonly log: Logger
  readonly signal: AbortSignal
  /** Called for every NOTIFY on the channel. */
  readonly onMessage: (payload: string) => void
  /** Called whenever listening begins, also after a lost connection: look for missed changes. */
  readonly onListening?: () => void
}

const longestPauseMs = 1_000

/**
 * Listens on its own connection until the signal is aborted, and again whenever that connection is
 * lost. The driver's own `listen` stops when its first retry fails. Notifications are hints and may
 * be lost. Returns without an error.
 */
export async function listen(options: Listening): Promise<void> {
  let pauseMs = 0
  while (!options.signal.aborted) {
    try {
      await listenOnce(options, () => {
        pauseMs = 0
      })
    } catch (err) {
      if (!options.signal.aborted && pauseMs === 0)
        options.log.warn({ err, channel: options.channel }, 'listening was lost')
    }
    if (options.signal.aborted) return
    pauseMs = Math.min(Math.max(pauseMs * 2, 50), longestPauseMs)
    await systemClock.sleep(pauseMs, options.signal).catch(() => options.signal.aborted)
  }
}

/** Rejects when the connection is lost, and resolves when the signal is aborted. */
async function listenOnce(
  { url, channel, signal, onMessage, onListening }: Listening,
  onSuccess: () => void,
): Promise<void> {
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  // The statement also reports an early loss.
  ended.catch(() => {})
  const db = connect(
    { url, max: 1, name: `quayside listen ${channel}`, statementTimeoutMs: 0 },
    {
      onclose: () => reject(new Error('the connection was lost')),
      onnotify: (name, payload) => {
        if (name === channel) onMessage(payload)
      },
    },
  )
  const onAbort = (): void => resolve()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    await db`listen ${db(channel)}`
    onSuccess()
    onListening?.()
    if (!signal.aborted) await ended
  } finally {
    signal.removeEventListener('abort', onAbort)
    await db.end({ timeout: 1 })
  }
}
