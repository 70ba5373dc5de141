import { access } from 'node:fs/promises'
import { ownColumns } from '../accounts/index.ts'
import { readConfig } from '../config.ts'
import type { Database } from '../database/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { armFailpoints } from '../lib/failpoint.ts'
import { createLogger, type Logger } from '../lib/log.ts'
import { createKeyRotations, exchangeMasterKey, openVault } from '../vault/index.ts'
import { createWorkflows } from '../workflows/index.ts'
import { openCommandDatabase } from './command-database.ts'
import { StartError, toStartError } from './start-error.ts'

/** How the command's sessions call themselves; they are none of a server. */
const session = 'quayside key exchange'

/**
 * `npm run rotate-key`: another master key instead of the present one, whether a server runs or
 * not; with `-- --organizations`, other keys for the secrets of all organizations instead.
 */
async function main(): Promise<void> {
  const isOfOrganizations = readArguments(process.argv.slice(2))
  const config = readConfig()
  armFailpoints(config.failpoint)
  const { masterKeyFile: file } = config
  await access(file).catch((cause: unknown) => {
    throw new StartError(
      `There is no master key ${file} that could be exchanged. The first start of the server makes one.`,
      {
        cause,
      },
    )
  })
  const log = createLogger(config.logLevel, config.logFormat)
  await using started = new AsyncDisposableStack()
  const database = await openCommandDatabase(config, log, started, session)
  if (isOfOrganizations) return await rotateOrganizations(database, file, log)
  const count = await exchangeMasterKey({ database, file, columns: ownColumns })
  if (count === undefined) console.log(`An exchange that was cut off is ended: ${file} holds its key.`)
  else console.log(`${file} holds a new key; what the former one sealed was sealed anew (${count}). Save the file now.`)
}

/** Gives whether the keys of organizations are meant. */
function readArguments(args: readonly string[]): boolean {
  const [first, ...rest] = args
  if (first === undefined) return false
  if (first === '--organizations' && rest.length === 0) return true
  const message = `There is no option ${args.join(' ')}. Give none to exchange the master key, or --organizations.`
  throw new StartError(message)
}

/** Begins it; a server does the work. */
async function rotateOrganizations(database: Database, masterKeyFile: string, log: Logger): Promise<void> {
  const vault = await openVault({ database, masterKeyFile, log })
  if (!vault.state.open) throw new StartError(`Secrets are sealed: ${vault.state.reason}`)
  const workflows = createWorkflows({ database, workflows: [], clock, log, maxRunning: 0 })
  const rotations = createKeyRotations({ database, clock, vault, workflows })
  const { begun, underWay } = await rotations.rotateAll()
  console.log(
    `New keys seal the secrets of ${begun} organizations; of ${underWay} more they were being rotated ` +
      'already. The server, once it runs, seals anew what the former keys sealed, and deletes them then.',
  )
}

await main().catch((error: unknown) => {
  const known = toStartError(error)
  console.error(known.message)
  if (known.cause !== undefined && !(known instanceof StartError && known.isExpected)) console.error(known.cause)
  process.exit(1)
})
