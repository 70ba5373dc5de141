import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { removePortRules } from '../builders/index.ts'
import { type Config, readConfig, socketOf } from '../config.ts'
import { type Database, embeddedUrl, openDatabase, readSetting } from '../database/index.ts'
import { DockerEngine, type InstallationThings, localEngine } from '../engines/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { messageOf } from '../lib/error.ts'
import { createLogger } from '../lib/log.ts'
import { startDatabase, tryLockDataDirectory } from './data-directory.ts'
import { StartError, toStartError } from './start-error.ts'
import { listFetchedImages, listServiceIds } from './uninstall-store.ts'

/**
 * The engine part of `npm run uninstall`: `list` prints everything with the label of this
 * installation, `remove` removes it. With `--keep-data` volumes are kept. bootstrap/uninstall.mjs
 * does the rest.
 */
async function main([command, ...options]: readonly string[]): Promise<void> {
  const config = readConfig()
  const signal = AbortSignal.timeout(600_000)
  const { instance, services, fetched } = await readFacts(config)
  const engine = new DockerEngine({ socketPath: socketOf(config), instance, clock })
  await engine.ping(signal)
  const found = await engine.listInstallation(services, signal)
  const things = options.includes('--keep-data') ? { ...found, volumes: [] } : found
  const rules = await engine.removeGuards({ isShared: found.isShared, dryRun: true }, signal).catch(noRules)
  if (command === 'list') return print(instance, things, fetched, rules)
  await engine.removeInstallation(things, signal)
  for (const image of fetched) await engine.removeImage(image, signal)
  if (rules.length > 0) await engine.removeGuards({ isShared: found.isShared }, signal)
  if (!found.isShared && rules.length > 0) await removePortRules().catch(noRules)
}

/** Without root, or without a packet filter, the server could not set any either. */
const noRules = (error: unknown): string[] => {
  console.error(`The rules of the packet filter cannot be read: ${messageOf(error)}`)
  return []
}

function print(
  instance: string,
  things: InstallationThings,
  fetched: readonly string[],
  rules: readonly string[],
): void {
  console.log(`On the Docker Engine, installation ${instance} has:`)
  const { containers, networks, volumes, images } = things
  const lists = { containers, networks, volumes, images: [...images, ...fetched], 'rules of the packet filter': rules }
  for (const [what, names] of Object.entries(lists)) {
    console.log(`\n${what}: ${names.length}`)
    for (const name of names) console.log(`  ${name}`)
  }
}

interface Facts {
  readonly instance: string
  readonly services: readonly string[]
  readonly fetched: readonly string[]
}

/**
 * Returns the id of the installation, from the database. If the database does not answer, it is
 * read from the file that the server stores.
 */
async function readFacts(config: Config): Promise<Facts> {
  await using started = new AsyncDisposableStack()
  try {
    const database = await open(config, started)
    const instance = await readSetting<string>(database, 'instance')
    if (instance === undefined) throw new Error('the server has never been ready')
    return {
      instance,
      services: await listServiceIds(database),
      fetched: await listFetchedImages(database, localEngine),
    }
  } catch (error) {
    const instance = (await readFile(join(config.dataDirectory, 'instance'), 'utf8').catch(() => '')).trim()
    if (instance === '') {
      throw new StartError(
        `The containers of ${config.dataDirectory} are unknown: its database does not answer ` +
          `(${messageOf(error)}), and it has no file "instance". If the installation has another data ` +
          'directory, name it with QUAYSIDE_DATA.',
        { cause: error },
      )
    }
    console.error(`The database does not answer (${messageOf(error)}): images that it has recorded are not listed.`)
    return { instance, services: [], fetched: [] }
  }
}

async function open(config: Config, started: AsyncDisposableStack): Promise<Database> {
  const log = createLogger('silent')
  const isOurs = await tryLockDataDirectory(config, started)
  const url = isOurs
    ? await startDatabase({ ...config, snapshots: false }, log, AbortSignal.timeout(60_000), started)
    : (config.databaseUrl ?? (await embeddedUrl(join(config.dataDirectory, 'postgresql'))))
  const database = openDatabase({ url, name: 'quayside uninstall', max: 1 })
  started.defer(() => database.end({ timeout: 5 }))
  return database
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  const known = toStartError(error)
  console.error(known.message)
  if (known.cause !== undefined && !(known instanceof StartError && known.isExpected)) console.error(known.cause)
  process.exit(1)
})
