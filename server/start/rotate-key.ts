import { access } from 'node:fs/promises'
import { ownColumns } from '../accounts/index.ts'
import { ownColumns as certificateColumns } from '../certificates/index.ts'
import { readConfig } from '../config.ts'
import type { Database } from '../database/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { armFailpoints } from '../lib/failpoint.ts'
import { createLogger, type Logger } from '../lib/log.ts'
import { createKeyRotations, exchangeMasterKey, openVault } from '../vault/index.ts'
import { createWorkflows } from '../workflows/index.ts'
import { openCommandDatabase } from './command-database.ts'
import { StartError, toStartError } from './start-error.ts'

/** The name of the command's sessions, to tell them from a server's. */
const session = 'quayside key exchange'

/**
 * `npm run rotate-key`: replaces the master key, whether a server runs or not. With
 * `-- --organizations` it replaces the keys for the secrets of all organizations instead.
 */
async function main(): Promise<void> {
  const isOfOrganizations = readArguments(process.argv.slice(2))
  const config = readConfig()
  armFailpoints(config.failpoint)
  const { masterKeyFile: file } = config
  await access(file).catch((cause: unknown) => {
    throw new StartError(`There is no master key ${file}. The first start of the server creates it.`, {
      cause,
    })
  })
  const log = createLogger(config.logLevel, config.logFormat)
  await using started = new AsyncDisposableStack()
  const database = await openCommandDatabase(config, log, started, session)
  if (isOfOrganizations) return await rotateOrganizations(database, file, log)
  const count = await exchangeMasterKey({ database, file, columns: [...ownColumns, ...certificateColumns] })
  if (count === undefined) console.log(`An interrupted rotation is completed: ${file} has its key.`)
  else console.log(`${file} has a new key. ${count} values were sealed with it again. Save the file now.`)
}

/** Whether the command is for the keys of organizations. */
function readArguments(args: readonly string[]): boolean {
  const [first, ...rest] = args
  if (first === undefined) return false
  if (first === '--organizations' && rest.length === 0) return true
  const message = `There is no option ${args.join(' ')}. Use none to replace the master key, or --organizations.`
  throw new StartError(message)
}

/** Starts the rotation. A server does the work. */
async function rotateOrganizations(database: Database, masterKeyFile: string, log: Logger): Promise<void> {
  const vault = await openVault({ database, masterKeyFile, log })
  if (!vault.state.open) throw new StartError(`Secrets are sealed: ${vault.state.reason}`)
  const workflows = createWorkflows({ database, workflows: [], clock, log, maxRunning: 0 })
  const rotations = createKeyRotations({ database, clock, vault, workflows })
  const { begun, underWay } = await rotations.rotateAll()
  console.log(
    `New keys seal the secrets of ${begun} organizations. The keys of ${underWay} more were being rotated ` +
      'already. A running server seals the older secrets again, and then deletes the previous keys.',
  )
}

await main().catch((error: unknown) => {
  const known = toStartError(error)
  console.error(known.message)
  if (known.cause !== undefined && !(known instanceof StartError && known.isExpected)) console.error(known.cause)
  process.exit(1)
})
