import { access } from 'node:fs/promises'
import { verifyAll } from './audit/index.ts'
import { openCommandDatabase } from './command-database.ts'
import { readConfig } from './config.ts'
import { createLogger } from './lib/log.ts'
import { StartError, toStartError } from './start-error.ts'

/**
 * `npm run verify-audit`: computes the hash chain of every organization's record of changes again, whether a server runs or not. Exits with
 * 1, and names the first row that does not fit, if one was changed, moved or removed.
 */
async function main(): Promise<void> {
  if (process.argv.length > 2) throw new StartError(`There is no option ${process.argv.slice(2).join(' ')}.`)
  const config = readConfig()
  await access(config.dataDirectory).catch((cause: unknown) => {
    throw new StartError(`There is no data directory ${config.dataDirectory}; see QUAYSIDE_DATA.`, { cause })
  })
  const log = createLogger(config.logLevel)
  await using started = new AsyncDisposableStack()
  const database = await openCommandDatabase(config, log, started, 'quayside audit check')
  for (const { name, organizationId, state, row } of await verifyAll(database)) {
    const whose = `Organization "${name}" (${organizationId})`
    if (state.intact) {
      console.log(`${whose}: ${state.rows} rows, all as they were written.`)
      continue
    }
    process.exitCode = 1
    const found = row
      ? `now ${row.id} of ${row.created_at.toISOString()}, ${row.event_type} of ${row.target_type} "${row.target_name}"`
      : 'no row has this number'
    const what =
      state.reason === 'missing' ? 'is missing' : 'does not fit: it was changed, or is in the place of another'
    console.error(`${whose}: row ${state.sequence} ${what} (${found}). Compare it with a backup of the database.`)
  }
}

await main().catch((error: unknown) => {
  const known = toStartError(error)
  console.error(known.message)
  if (known.cause !== undefined && !(known instanceof StartError && known.isExpected)) console.error(known.cause)
  process.exit(1)
})
