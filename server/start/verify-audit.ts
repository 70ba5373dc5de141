import { access } from 'node:fs/promises'
import { describeChain, verifyAll } from '../audit/index.ts'
import { readConfig } from '../config.ts'
import { createLogger } from '../lib/log.ts'
import { openCommandDatabase } from './command-database.ts'
import { StartError, toStartError } from './start-error.ts'

/**
 * `npm run verify-audit`: recomputes the hash chain of every organization's audit log, whether a
 * server runs or not. If a row was changed, moved or removed, exits with 1 and names the first row
 * that does not fit.
 */
async function main(): Promise<void> {
  if (process.argv.length > 2) throw new StartError(`There is no option ${process.argv.slice(2).join(' ')}.`)
  const config = readConfig()
  await access(config.dataDirectory).catch((cause: unknown) => {
    throw new StartError(`There is no data directory ${config.dataDirectory}; see QUAYSIDE_DATA.`, { cause })
  })
  const log = createLogger(config.logLevel, config.logFormat)
  await using started = new AsyncDisposableStack()
  const database = await openCommandDatabase(config, log, started, 'quayside audit check')
  for (const verified of await verifyAll(database)) {
    if (verified.state.intact) {
      console.log(describeChain(verified))
      continue
    }
    process.exitCode = 1
    console.error(describeChain(verified))
  }
}

await main().catch((error: unknown) => {
  const known = toStartError(error)
  console.error(known.message)
  if (known.cause !== undefined && !(known instanceof StartError && known.isExpected)) console.error(known.cause)
  process.exit(1)
})
