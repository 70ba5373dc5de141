import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { compose, createDrivers, type Ground } from './compose.ts'
import { type Config, readConfig } from './config.ts'
import { type Database, exclusiveLock, migrate, openDatabase, startEmbedded } from './database/index.ts'
import { firstStart, tokenFile } from './first-start.ts'
import { systemClock as clock } from './lib/clock.ts'
import { armFailpoints } from './lib/failpoint.ts'
import { newRandomId } from './lib/id.ts'
import { createLogger, type Logger } from './lib/log.ts'
import { ensureRouterProcess, type RouterProcessOptions, superviseRouter } from './routers/index.ts'
import { StartError, toStartError } from './start-error.ts'
import { openPepper, openVault, readMasterKey } from './vault/index.ts'

/** Says what is being done: for people; the structured log goes to standard error. */
const say = (line: string): void => console.log(line)

async function main(): Promise<void> {
  const config = readConfig()
  armFailpoints(config.failpoint)
  const log = createLogger(config.logLevel)
  const stopping = new AbortController()
  await mkdir(config.dataDirectory, { recursive: true, mode: 0o700 })
  const lock = await exclusiveLock(`data ${config.dataDirectory}`)
  if (!lock)
    throw new StartError(
      `The data directory ${config.dataDirectory} is in use by another server. End that one, or set QUAYSIDE_DATA to another directory.`,
    )

  const { database, stopDatabase } = await openGround(config, log, stopping.signal)
  await checkKeyFile(config)
  const vault = await openVault({ database, masterKeyFile: config.masterKeyFile, log })
  if (!vault.state.open) say(`Secrets are sealed: ${vault.state.reason}`)
  const pepper = await openPepper({ database, file: join(config.dataDirectory, 'token.pepper') })
  const router = routerOptions(config, stopping.signal)
  const ground: Ground = {
    config,
    log,
    database,
    vault,
    pepper,
    instance: await readInstance(database),
    controlSocket: router.controlSocket,
    reconcilers: [superviseRouter(router)],
  }
  say(`Starting the router on port ${config.routerPort}`)
  await ensureRouterProcess(router)
  const drivers = createDrivers(ground)
  await drivers.engine.ping(AbortSignal.timeout(10_000))
  const composition = compose(ground, drivers)
  composition.start()
  await composition.app.listen({ host: config.host, port: config.port }).catch((error: unknown) => {
    throw toStartError(error, config)
  })

  const stop = async (): Promise<void> => {
    say('Stopping; applications keep answering.')
    stopping.abort()
    await composition.stop()
    await stopDatabase()
    lock.close()
  }
  handleSignals(stop, log)
  const first = await firstStart({ config, database, composition, say, signal: stopping.signal })
  await report(config, first)
}

/** PostgreSQL, the given one or our own, with the present schema. */
async function openGround(config: Config, log: Logger, signal: AbortSignal) {
  if (config.databaseUrl) {
    const database = openDatabase({ url: config.databaseUrl })
    await migrate(database, { log })
    return { database, stopDatabase: () => database.end({ timeout: 5 }) }
  }
  say('Starting PostgreSQL')
  const embedded = await startEmbedded({ directory: join(config.dataDirectory, 'postgresql'), log, signal, clock })
  const database = openDatabase({ url: embedded.url })
  const watching = new AbortController()
  const watch = embedded.watch(watching.signal)
  await migrate(database, { log })
  const stopDatabase = async (): Promise<void> => {
    await database.end({ timeout: 5 })
    watching.abort()
    await watch
    await embedded.stop()
  }
  return { database, stopDatabase }
}

/** A key file that is there but damaged is a mistake to be told at once; one that is missing or wrong seals the vault. */
async function checkKeyFile({ masterKeyFile }: Config): Promise<void> {
  await readMasterKey(masterKeyFile).catch((error: unknown) => {
    if (error instanceof Error && 'reason' in error && error.reason === 'missing') return
    throw error
  })
}

function routerOptions(config: Config, signal: AbortSignal): RouterProcessOptions {
  const file = (name: string): string => join(config.dataDirectory, 'router', name)
  return {
    host: config.routerHost,
    port: config.routerPort,
    controlSocket: file('control.sock'),
    stateFile: file('routes.json'),
    logFile: file('router.log'),
    cacheFolder: file('cache'),
    signal,
    clock,
  }
}

/** The name of this installation, made once. */
async function readInstance(database: Database): Promise<string> {
  await database`
    insert into setting (key, value) values ('instance', ${database.json(newRandomId().slice(0, 8))})
    on conflict (key) do nothing`
  const [row] = await database<{ value: string }[]>`select value from setting where key = 'instance'`
  return row?.value ?? ''
}

function handleSignals(stop: () => Promise<void>, log: Logger): void {
  let isStopping = false
  const end = (): void => {
    if (isStopping) return
    isStopping = true
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.fatal({ err: error }, 'stopping failed')
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', end)
  process.on('SIGINT', end)
}

async function report(config: Config, first: { token?: string; url: string } | undefined): Promise<void> {
  const token = first?.token ?? (await readFile(tokenFile(config), 'utf8').catch(() => '')).trim()
  say('')
  say(`API          ${config.publicUrl}`)
  say(first?.token ? `Token        ${token}` : `Token        in ${tokenFile(config)}`)
  if (first) say(`Application  ${first.url}`)
  say('')
  say('Ready.')
}

await main().catch((error: unknown) => {
  const known = toStartError(error)
  console.error(known.message)
  if (known.cause !== undefined && !(known instanceof StartError && known.isExpected)) console.error(known.cause)
  process.exit(1)
})
