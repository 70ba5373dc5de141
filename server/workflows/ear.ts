import { type Database, listen } from '../database/index.ts'
import { messageOf } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import { channel } from './workflow-store.ts'

export interface Ear {
  /**
   * Notifies the other processes of work. Calls during a notification are combined into the next
   * one.
   */
  tell(): void
  close(): Promise<void>
}

/**
 * Receives the messages of other processes and of cancelling transactions. It only saves time:
 * polling finds every lost message, also those sent while the connection is down.
 */
export function createEar(options: {
  readonly database: Database
  /** The same database. Without it no messages are received. */
  readonly url: string | undefined
  readonly log: Logger
  /** Identifies this process, which ignores its own messages. */
  readonly owner: string
  readonly onWork: () => void
  readonly onCancel: (id: string) => void
}): Ear {
  const { database, log, owner, onWork, url } = options
  const closing = new AbortController()
  const onMessage = (text: string): void => {
    const [word, subject = ''] = text.split(' ')
    if (word === 'cancel') options.onCancel(subject)
    else if (subject !== owner) onWork()
  }
  const listening =
    url === undefined
      ? Promise.resolve()
      : listen({ url, channel, log, signal: closing.signal, onMessage, onListening: onWork })
  let isTelling = false
  let again = false

  async function tellAll(): Promise<void> {
    isTelling = true
    do {
      again = false
      await database.notify(channel, `work ${owner}`).catch((error) => {
        log.debug({ reason: messageOf(error) }, 'other processes were not notified of work')
      })
    } while (again)
    isTelling = false
  }

  return {
    tell: () => {
      if (isTelling) again = true
      else void tellAll()
    },
    close: () => {
      closing.abort()
      return listening
    },
  }
}
