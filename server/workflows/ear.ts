import { type Database, listen } from '../database/index.ts'
import { messageOf } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import { channel } from './workflow-store.ts'

export interface Ear {
  /** Tells the other processes that there is work. Calls that come while one is under way are told together. */
  tell(): void
  close(): Promise<void>
}

/**
 * Hears what other processes and cancelling transactions say. An economy only: whatever gets lost, also while the
 * connection is down, is found by polling.
 */
export function createEar(options: {
  readonly database: Database
  /** Of the same database. Without it nothing is heard. */
  readonly url: string | undefined
  readonly log: Logger
  /** What this process says is not for its own ear. */
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
        log.debug({ reason: messageOf(error) }, 'other processes were not told of work')
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
