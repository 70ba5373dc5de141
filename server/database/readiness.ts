import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import type { Database } from './database.ts'
import { createPulse, type Pulse } from './pulse.ts'
import { readSetting } from './setting-store.ts'

/**
 * Creates the pulse of a database; undefined without a URL, under which another connection could be
 * opened.
 */
export const createPulseOf = ({ url, clock }: { readonly url: string | undefined; readonly clock: Clock }) =>
  url === undefined ? undefined : createPulse({ url, clock })

/**
 * Returns a question to the database that rejects with AppError `unavailable` while it does not
 * answer.
 */
export const createReadiness = (database: Database, pulse: Pick<Pulse, 'whileHeard'> | undefined) => {
  const read = () => readSetting(database, 'instance')
  return async (): Promise<void> => {
    await (pulse ? pulse.whileHeard(read) : read()).catch((error: unknown) => {
      throw new AppError('unavailable', 'The database does not answer.', { cause: error })
    })
  }
}
