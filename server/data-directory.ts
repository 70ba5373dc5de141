import { join } from 'node:path'
import type { Config } from './config.ts'
import { type Database, exclusiveLock, migrate, openDatabase, startEmbedded } from './database/index.ts'
import { systemClock as clock } from './lib/clock.ts'
import type { Logger } from './lib/log.ts'
import { StartError } from './start-error.ts'

/** For as long as this process lives. Throws StartError where another one has it. */
export async function lockDataDirectory({ dataDirectory }: Config, started: AsyncDisposableStack): Promise<void> {
  const lock = await exclusiveLock(`data ${dataDirectory}`)
  if (!lock) {
    const message = `The data directory ${dataDirectory} is in use by another server.`
    throw new StartError(`${message} End that one, or set QUAYSIDE_DATA to another directory.`)
  }
  started.defer(async () => void lock.close())
}

/** A pool on the database, brought to the present schema; its connections go by that name. */
export async function openSchema(
  url: string,
  log: Logger,
  started: AsyncDisposableStack,
  name = 'quayside',
): Promise<Database> {
  const database = openDatabase({ url, name })
  started.defer(() => database.end({ timeout: 5 }))
  await migrate(database, { log })
  return database
}

/** Gives the address of the embedded PostgreSQL, which is kept running until the server stops. */
export async function startOwnDatabase(
  config: Config,
  log: Logger,
  signal: AbortSignal,
  started: AsyncDisposableStack,
): Promise<string> {
  const embedded = await startEmbedded({ directory: join(config.dataDirectory, 'postgresql'), log, signal, clock })
  const watching = new AbortController()
  const watch = embedded.watch(watching.signal)
  started.defer(async () => {
    watching.abort()
    await watch
    await embedded.stop()
  })
  return embedded.url
}
