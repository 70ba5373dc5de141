import { join } from 'node:path'
import { readConfig } from './config.ts'
import { tryMigrations } from './database/index.ts'
import { createLogger } from './lib/log.ts'
import { StartError, toStartError } from './start/start-error.ts'
// Loads the modules of a server, so a missing package or an unreadable file is found here.
import './composition/index.ts'

/**
 * Checks a version before `npm run upgrade` switches to it: its settings are valid, its packages
 * and files exist, and its migrations can be applied to a copy of the database. Only the copy is
 * changed.
 */
async function main(): Promise<void> {
  const config = readConfig()
  if (config.databaseUrl !== undefined) {
    console.log('Migrations are not tried: the database of QUAYSIDE_DATABASE_URL is not copied.')
    return
  }
  const stopping = new AbortController()
  // The copy is removed before the process ends.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => stopping.abort())
  const names = await tryMigrations({
    directory: join(config.dataDirectory, 'postgresql'),
    trial: join(config.dataDirectory, 'trial'),
    log: createLogger('warn'),
    signal: stopping.signal,
  })
  if (names === undefined) console.log('There is no database yet.')
  else if (names.length === 0) console.log('No migrations are pending.')
  else console.log(`Applied to a copy of the database: ${names.join(', ')}.`)
}

await main().catch((error: unknown) => {
  const known = toStartError(error)
  console.error(known.message)
  if (known.cause !== undefined && !(known instanceof StartError && known.isExpected)) console.error(known.cause)
  process.exit(1)
})
