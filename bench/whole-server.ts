import { join } from 'node:path'
import { createCertificates } from '../server/certificates/index.ts'
import { type Composition, compose, createDrivers, type Drivers, type Ground } from '../server/composition/index.ts'
import { readConfig } from '../server/config.ts'
import { type Database, migrate, openDatabase, type PoolOptions } from '../server/database/index.ts'
import { systemClock } from '../server/lib/clock.ts'
import { createLogger } from '../server/lib/log.ts'
import { openPepper, openVault, type Vault } from '../server/vault/index.ts'
import { createSoleDuty } from '../server/workflows/index.ts'

/**
 * Creates the whole server without its workflows: accepted requests stay queued until it is
 * started. It does not listen yet.
 */
export async function composeServer(
  at: { readonly port: string; readonly directory: string } & Pick<PoolOptions, 'url' | 'onStatement'>,
  settings: Readonly<Record<string, string>> = {},
  driversOf: (ground: Ground) => Drivers = createDrivers,
): Promise<Composition & { readonly database: Database; readonly vault: Vault; readonly publicUrl: string }> {
  const config = readConfig({
    QUAYSIDE_DATA: at.directory,
    QUAYSIDE_PORT: at.port,
    QUAYSIDE_RATE_LIMIT: '1000000',
    QUAYSIDE_RATE_BURST: '1000000',
    ...settings,
  })
  const log = createLogger(config.logLevel, config.logFormat)
  const database = openDatabase({ url: at.url, ...(at.onStatement && { onStatement: at.onStatement }) })
  await migrate(database, { log })
  const vault = await openVault({ database, masterKeyFile: config.masterKeyFile, log })
  const ground: Ground = {
    config,
    log,
    database,
    vault,
    pepper: await openPepper({ database, file: join(at.directory, 'token.pepper') }),
    formerUrls: [],
    instance: 'bench',
    // No process: the benchmark runs nothing.
    routerProcess: {
      host: '127.0.0.1',
      port: 0,
      controlSocket: join(at.directory, 'control.sock'),
      stateFile: join(at.directory, 'routes.json'),
      logFile: join(at.directory, 'router.log'),
    },
    certificates: createCertificates({
      database,
      vault,
      clock: systemClock,
      log,
      settings: undefined,
      hosts: [],
      publishRoot: async () => {},
    }),
    reconcilers: [],
    always: [],
    duty: createSoleDuty(),
  }
  return { ...compose(ground, driversOf(ground)), database, vault: ground.vault, publicUrl: config.publicUrl }
}
