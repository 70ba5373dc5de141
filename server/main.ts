import { mkdir } from 'node:fs/promises'
import { flushCompileCache, getCompileCacheDir } from 'node:module'
import { dirname, join } from 'node:path'
import { endProcess } from '@quayside/contract/end-process.ts'
import { syncMembers } from './access/index.ts'
import { type Certificates, createCertificates } from './certificates/index.ts'
import { compose, createDrivers, createDriversWithoutDocker, type Ground } from './composition/index.ts'
import { type Config, readConfig, unknownSettings } from './config.ts'
import type { Database } from './database/index.ts'
import { alone, readSetting, renewConnections, settingOr, writeSetting } from './database/index.ts'
import { examine, gatherFacts } from './doctor/index.ts'
import { platformDoor } from './domains/index.ts'
import { localEngine } from './engines/index.ts'
import { systemClock as clock } from './lib/clock.ts'
import { messageOf } from './lib/error.ts'
import { armFailpoints } from './lib/failpoint.ts'
import { newRandomId } from './lib/id.ts'
import { createLogger, type Logger } from './lib/log.ts'
import { createMemoryKeeper } from './lib/spare-memory.ts'
import { reportUnhandled } from './lib/unhandled.ts'
import { saveCreationLimits } from './limits/index.ts'
import { metricsSecret } from './metrics/index.ts'
import { ensureRouterProcess, type RouterProcessOptions, superviseRouter } from './routers/index.ts'
import { reportUnlisted } from './services/index.ts'
import { lockDataDirectory, noteInstance, openSchema, startDatabase } from './start/data-directory.ts'
import { firstStart, startBaseImage } from './start/first-start.ts'
import { frontProblems } from './start/front-problems.ts'
import { greeting } from './start/greeting.ts'
import { recordVersion } from './start/platform-version.ts'
import { writePrivate, writePublic } from './start/private-file.ts'
import { StartError, toStartError } from './start/start-error.ts'
import { timed } from './start/timed.ts'
import { KeyFileError, openPepper, openVault, readMasterKey, serverSession } from './vault/index.ts'
import { createSharedDuty, createSoleDuty } from './workflows/index.ts'

/** Prints progress for people. The structured log goes to standard error. */
const say = (line: string): void => console.log(line)

// Without a listener, an unwritable line or a warning of Node.js would end the process on a full
// disk.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

/** Starts everything. After a failure, ends the parts that were started. */
async function main(): Promise<void> {
  const config = readConfig()
  armFailpoints(config.failpoint)
  const log = createLogger(config.logLevel, config.logFormat)
  reportUnlisted(log)
  reportUnhandled(log)
  const started = new AsyncDisposableStack()
  const stopping = new AbortController()
  const running = run(config, log, started, stopping)
  handleSignals({ running, started, stopping, log })
  try {
    await running
  } catch (error) {
    // A signal during the start aborted it. Its handler ends the process.
    if (stopping.signal.aborted) return
    await started.disposeAsync()
    throw error
  }
}

async function run(
  config: Config,
  log: Logger,
  started: AsyncDisposableStack,
  stopping: AbortController,
): Promise<void> {
  const { signal } = stopping
  await makeDirectories(config)
  await lockDataDirectory(config, started)
  const baseImage = startBaseImage({ config, log, signal, started })
  if (!config.databaseUrl) say('Starting PostgreSQL')
  const databaseUrl = await startDatabase(config, log, signal, started)
  signal.throwIfAborted()
  const database = await openSchema(databaseUrl, log, started, serverSession(config.masterKeyFile))
  await recordVersion(config.dataDirectory, clock.now())
  await checkKeyFile(config)
  const vault = await openVault({ database, masterKeyFile: config.masterKeyFile, log })
  if (!vault.state.open) say(`Secrets are sealed: ${vault.state.reason}`)
  const pepper = await openPepper({ database, file: config.tokenPepperFile })
  // Built-in variables contain it.
  await writeSetting(database, 'domain', config.domain)
  await saveCreationLimits(database, config.creationLimits)
  const instance = await settingOr(database, 'instance', newRandomId().slice(0, 8))
  await noteInstance(config, instance)
  await writePrivate(join(config.dataDirectory, 'metrics-token'), metricsSecret(pepper).reveal())
  const certificates = createCertificates({
    database,
    vault,
    clock,
    log,
    settings: config.routerTls ?? config.clusterTls,
    speaking: { machine: config.routerTls !== undefined, clusters: config.clusterTls !== undefined },
    publishRoot: async (roots, next) => {
      await writePublic(join(config.dataDirectory, 'authority.pem'), roots)
      if (next !== undefined) await writePublic(join(config.dataDirectory, 'authority-next.pem'), next)
    },
    hosts: config.platformHost === undefined ? [] : [config.platformHost],
    door: platformDoor(config, pepper),
  })
  const router = routerOptions(config, signal, certificates)
  const front = frontProblems(config)
  const hasDocker = config.dockerSocket !== undefined
  const ground: Ground = {
    config,
    log,
    database,
    databaseUrl,
    vault,
    pepper,
    instance,
    formerUrls: await rememberUrl(database, config.publicUrl),
    routerProcess: router,
    certificates,
    reconcilers: hasDocker ? [superviseRouter(router, log)] : [],
    always: [createMemoryKeeper({ log, beside: () => renewConnections(database) })],
    // Several servers can share an outside database. The embedded one belongs to this process.
    duty: config.databaseUrl ? createSharedDuty({ database, clock, log }) : createSoleDuty(),
  }
  const drivers = hasDocker ? createDrivers(ground) : createDriversWithoutDocker(ground)
  // Another engine may be down at the start. Its clusters wait for it.
  const local = hasDocker ? drivers.engines.find(({ name }) => name === localEngine) : undefined
  await local?.engine.ping(AbortSignal.timeout(10_000)).catch((error: unknown) => {
    throw new StartError(`${messageOf(error)} Start it, or set QUAYSIDE_DOCKER_HOST to its socket.`, { cause: error })
  })
  signal.throwIfAborted()
  const composition = compose(ground, drivers)
  await composition.connect()
  await composition.app.listen({ host: config.host, port: config.port }).catch((error: unknown) => {
    throw toStartError(error, config)
  })
  // Last, because it outlives this process: a failed start must leave nothing running.
  if (hasDocker) {
    await timed(say, `Starting the router on port ${config.routerPort}`, () => ensureRouterProcess(router))
  }
  composition.start()
  started.defer(() => composition.stop())
  signal.throwIfAborted()
  const first = await alone({ url: databaseUrl, name: 'first start', clock, signal }, () =>
    firstStart({ config, database, composition, vault, say, signal, baseImage }),
  )
  await syncMembers(database, clock, config.issuers)
  const problems = await front
  // A link invalidates the one before. The file of a shared directory has the valid one.
  const lines = await alone({ url: databaseUrl, name: 'account link', clock, signal }, async () =>
    greeting(config, { first, link: await composition.accounts.firstAccountLink(), problems }),
  )
  for (const line of lines) say(line)
  // Otherwise Node.js writes compiled code at the end only, and a killed process leaves none.
  flushCompileCache()
  void warnOfMachine(config, log).catch((error: unknown) => log.warn({ err: error }, 'machine could not be checked'))
}

/** PostgreSQL's account must be able to enter it. Secret files in it are private themselves. */
async function makeDirectories({ dataDirectory, scratchDirectory }: Config): Promise<void> {
  await mkdir(dataDirectory, { recursive: true, mode: 0o711 })
  for (const name of ['git', 'logs', 'router']) await mkdir(join(dataDirectory, name), { recursive: true, mode: 0o700 })
  await mkdir(join(scratchDirectory, 'checkouts'), { recursive: true, mode: 0o700 })
}

/**
 * A damaged key file is reported at once, as a mistake. A missing or wrong key file seals the
 * vault.
 */
async function checkKeyFile({ masterKeyFile }: Config): Promise<void> {
  await readMasterKey(masterKeyFile).catch((error: unknown) => {
    if (!(error instanceof KeyFileError)) throw error
    if (error.reason === 'missing') return
    throw new StartError(`${error.message}, or set QUAYSIDE_MASTER_KEY_FILE to another file.`, { cause: error })
  })
}

function routerOptions(config: Config, signal: AbortSignal, { source }: Certificates): RouterProcessOptions {
  const file = (name: string): string => join(config.dataDirectory, 'router', name)
  return {
    host: config.routerHost,
    port: config.routerPort,
    ...(config.routerTls && source && { tls: { port: config.routerTls.port, source } }),
    publicPorts: config.publicRouterPorts,
    trusted: config.trustedProxies,
    proxies: config.proxyProtocol,
    connections: config.routerConnections,
    ...(config.haproxy !== undefined && { haproxy: config.haproxy, http3: config.http3 }),
    controlSocket: file('control.sock'),
    stateFile: file('routes.json'),
    logFile: file('router.log'),
    cacheFolder: compiledFolder() ?? file('cache'),
    signal,
    clock,
  }
}

/**
 * Returns the folder of this process for compiled code, so that the first router of an installation
 * finds its code compiled as well. Undefined if this process has none.
 */
function compiledFolder(): string | undefined {
  const folder = getCompileCacheDir()
  // Node.js keeps the code of each of its versions in a folder below the configured one.
  return folder === undefined ? undefined : dirname(folder)
}

/**
 * Stores the public URL and returns the previous ones. Stored addresses of repositories on the
 * built-in git host contain the URL of their time.
 */
async function rememberUrl(database: Database, url: string): Promise<string[]> {
  const known = (await readSetting<string[]>(database, 'public_urls')) ?? []
  const former = known.filter((other) => other !== url)
  await writeSetting(database, 'public_urls', [url, ...former])
  return former
}

interface Life {
  readonly running: Promise<void>
  readonly started: AsyncDisposableStack
  readonly stopping: AbortController
  readonly log: Logger
}

/** How long a start may take to react to a stop. */
const noticeMs = 10_000

/**
 * Installed first, so that an interrupted start ends what it has started. A second signal changes
 * nothing.
 */
function handleSignals({ running, started, stopping, log }: Life): void {
  const end = (): void => {
    if (stopping.signal.aborted) return
    say('Stopping. Applications keep answering.')
    stopping.abort()
    const settled = running.then(
      () => {},
      () => {},
    )
    Promise.race([settled, clock.sleep(noticeMs)])
      .then(() => started.disposeAsync())
      .then(
        () => endProcess(0),
        (error: unknown) => {
          log.fatal({ err: error }, 'stopping failed')
          endProcess(1)
        },
      )
  }
  process.on('SIGTERM', end)
  process.on('SIGINT', end)
}

/** Runs the checks of `npm run doctor`. Their results never end the server. */
async function warnOfMachine(settings: Config, log: Logger): Promise<void> {
  const facts = await gatherFacts({ settings, clock, unknownSettings: unknownSettings(), isRunning: true })
  for (const { check, status, message, remedy } of examine(facts)) {
    if (status !== 'ok') log.warn({ check, status, reason: message, remedy }, 'machine check found a problem')
  }
}

await main().catch((error: unknown) => {
  const known = toStartError(error)
  console.error(known.message)
  if (known.cause !== undefined && !(known instanceof StartError && known.isExpected)) console.error(known.cause)
  endProcess(1)
})
