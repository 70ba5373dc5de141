import { join } from 'node:path'
import type { Config } from '../config.ts'
import { type Database, embeddedUrl, openDatabase } from '../database/index.ts'
import type { Logger } from '../lib/log.ts'
import { openSchema, startDatabase, tryLockDataDirectory } from './data-directory.ts'

/**
 * Opens the database for a command until `started` is disposed. Uses the database of a running
 * server. Without a server, starts the database for the duration of the command. `session` is the
 * name of the command's sessions.
 */
export async function openCommandDatabase(
  config: Config,
  log: Logger,
  started: AsyncDisposableStack,
  session: string,
): Promise<Database> {
  if (await tryLockDataDirectory(config, started)) {
    const url = await startDatabase(config, log, new AbortController().signal, started)
    return openSchema(url, log, started, session)
  }
  const url = config.databaseUrl ?? (await embeddedUrl(join(config.dataDirectory, 'postgresql')))
  const database = openDatabase({ url, name: session })
  started.defer(() => database.end({ timeout: 5 }))
  return database
}
