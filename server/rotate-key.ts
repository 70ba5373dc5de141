import { access } from 'node:fs/promises'
import { ownTexts } from './accounts/index.ts'
import { readConfig } from './config.ts'
import { lockDataDirectory, openSchema, startDatabase } from './data-directory.ts'
import { armFailpoints } from './lib/failpoint.ts'
import { createLogger } from './lib/log.ts'
import { StartError, toStartError } from './start-error.ts'
import { exchangeMasterKey } from './vault/index.ts'

/** `npm run rotate-key`: another master key instead of the present one, with the server stopped. */
async function main(): Promise<void> {
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
  const log = createLogger(config.logLevel)
  await using started = new AsyncDisposableStack()
  await lockDataDirectory(config, started)
  const stopping = new AbortController()
  const url = await startDatabase(config, log, stopping.signal, started)
  const database = await openSchema(url, log, started, 'quayside key exchange')
  const count = await exchangeMasterKey({ database, file, texts: ownTexts })
  if (count === undefined) console.log(`An exchange that was cut off is ended: ${file} holds its key.`)
  else console.log(`${file} holds a new key; what the former one sealed was sealed anew (${count}). Save the file now.`)
}

await main().catch((error: unknown) => {
  const known = toStartError(error)
  console.error(known.message)
  if (known.cause !== undefined && !(known instanceof StartError && known.isExpected)) console.error(known.cause)
  process.exit(1)
})
