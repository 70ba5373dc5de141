import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readConfig } from '../config.ts'
import { goBack, type Snapshot } from '../database/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { armFailpoints } from '../lib/failpoint.ts'
import { createLogger } from '../lib/log.ts'
import { lockDataDirectory, rollbackFile } from './data-directory.ts'
import { masterKeyId, snapshotsIn } from './snapshot-at-start.ts'
import { StartError, toStartError } from './start-error.ts'

/**
 * This file exists while the database may be missing. bootstrap/rollback-upgrade.mjs continues from
 * it, and removes it.
 */
interface Mark {
  readonly commit: string
  readonly name: string
}

/**
 * The database part of `npm run rollback-upgrade`: `restore-snapshot.ts <commit> <migration>…`
 * restores the schema of that commit, which knows these migrations.
 */
async function main([commit = '', ...migrations]: string[]): Promise<void> {
  const config = readConfig()
  armFailpoints(config.failpoint)
  await using started = new AsyncDisposableStack()
  await lockDataDirectory(config, started)
  if (config.databaseUrl !== undefined) {
    console.log(
      'The database of QUAYSIDE_DATABASE_URL is not touched: it has to be restored from a backup of your own.',
    )
    return
  }
  const file = rollbackFile(config)
  const mark = await readMark(file)
  // To the millisecond, because two rollbacks can run within one second.
  const name = mark?.name ?? clock.now().toISOString().replace(/[-:.]/g, '')
  const went = await goBack({
    directory: join(config.dataDirectory, 'postgresql'),
    snapshots: snapshotsIn(config.dataDirectory),
    migrations,
    name,
    log: createLogger('warn'),
    signal: new AbortController().signal,
    before: async (snapshot) => {
      await refuseOtherKey(snapshot, config.masterKeyFile)
      await writeMark(file, { commit, name })
    },
  })
  if (!went) console.log('The database already has the schema of that version, and is unchanged.')
  else {
    console.log(`The database of ${went.snapshot.taken_at} is restored (snapshot ${went.snapshot.name}).`)
    console.log(`The newer database is kept in ${went.aside}. Delete it when you no longer need it.`)
    console.log(
      'Services return to its versions. Containers of services that it does not have are ended, and their ' +
        'volumes are kept.',
    )
  }
}

async function readMark(file: string): Promise<Mark | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  // We wrote it, and renamed it only when it was complete.
  return text === undefined ? undefined : (JSON.parse(text) as Mark)
}

async function writeMark(file: string, mark: Mark): Promise<void> {
  await writeFile(`${file}.next`, `${JSON.stringify(mark)}\n`, { flush: true })
  await rename(`${file}.next`, file)
}

/** Another key cannot open the secrets of the snapshot. */
async function refuseOtherKey(snapshot: Snapshot, keyFile: string): Promise<void> {
  const present = await masterKeyId(keyFile)
  if (snapshot.master_key === null || snapshot.master_key === present) return
  throw new StartError(
    `The snapshot ${snapshot.name} was taken under the master key ${snapshot.master_key}; ${keyFile} holds ` +
      `${present ?? 'none'}. Nothing was changed. Restore the key of that time to this file, and repeat.`,
  )
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  const known = toStartError(error)
  console.error(known.message)
  if (known.cause !== undefined && !(known instanceof StartError && known.isExpected)) console.error(known.cause)
  process.exit(1)
})
