import { join } from 'node:path'
import { readConfig } from './config.ts'
import { tryMigrations } from './database/index.ts'
import { createLogger } from './lib/log.ts'
import { StartError, toStartError } from './start/start-error.ts'
// Loads what the server loads: a package that is missing, or a file that cannot be read, is found
// here.
import './composition/index.ts'

/**
 * The check of a version before `npm run upgrade` switches to it: its settings can be read, its
 * packages and files are there, and its migrations can be applied to a copy of the database.
 * Nothing but the copy is written.
 */
async function main(): Promise<void> {
  const config = readConfig()
  if (config.databaseUrl !== undefined) {
    console.log('Migrations are not tried: the database of QUAYSIDE_DATABASE_URL is not copied.')
    return
  }
  const stopping = new AbortController()
  // What was begun is cleared away before the process ends.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => stopping.abort())
  const names = await tryMigrations({
    directory: join(config.dataDirectory, 'postgresql'),
    trial: join(config.dataDirectory, 'trial'),
    log: createLogger('warn'),
    signal: stopping.signal,
  })
  if (names === undefined) console.log('There is no database yet.')
  else if (names.length === 0) console.log('The database is unchanged.')
  else console.log(`Applied to a copy of the database: ${names.join(', ')}.`)
}

await main().catch((error: unknown) => {
  const known = toStartError(error)
  console.error(known.message)
  if (known.cause !== undefined && !(known instanceof StartError && known.isExpected)) console.error(known.cause)
  process.exit(1)
})
