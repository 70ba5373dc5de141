import { join } from 'node:path'
import { createDockerBuilder, type NamedBuilder } from '../builders/index.ts'
import type { Config } from '../config.ts'
import type { Database } from '../database/index.ts'
import { DockerEngine, localEngine, type NamedEngine } from '../engines/index.ts'
import { createAddressGuard } from '../lib/address.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { gibibytes } from '../lib/gibibytes.ts'
import type { Logger } from '../lib/log.ts'
import { createOwnRouter, type NamedRouter } from '../routers/index.ts'
import type { Vault } from '../vault/index.ts'
import type { Reconciler } from '../workflows/index.ts'
import { createBaseImages } from './base-images.ts'

/** What is there before the rooms: opened by main, or by a test. */
export interface Ground {
  readonly config: Config
  readonly log: Logger
  readonly database: Database
  /**
   * Of the same database, for the connection that listens. Without it, other processes are heard of
   * by polling.
   */
  readonly databaseUrl?: string
  readonly vault: Vault
  readonly pepper: Buffer
  /** Under which the API was reached before, see `config.publicUrl`. */
  readonly formerUrls: readonly string[]
  /** Tells this installation's containers from those of others on the same engine. */
  readonly instance: string
  readonly controlSocket: string
  /** Beside those of the rooms. */
  readonly reconcilers: readonly Reconciler[]
}

/** The parts that tests exchange for fakes. Each engine has a builder and a router. */
export interface Drivers {
  readonly engines: readonly NamedEngine[]
  readonly builders: readonly NamedBuilder[]
  readonly routers: readonly NamedRouter[]
}

export function createDrivers(ground: Ground): Drivers {
  const { config, instance, controlSocket, log } = ground
  const guard = createAddressGuard({ allowedPrivateCidrs: config.allowPrivateTargets })
  const maxImageBytes = gibibytes(config.imageSizeGiB)
  const socketPath = config.dockerSocket
  const spoolDirectory = join(config.dataDirectory, 'fetches')
  const floorBytes = gibibytes(config.diskFloorGiB)
  const engine = new DockerEngine({
    socketPath,
    instance,
    clock,
    log,
    guard,
    maxImageBytes,
    spoolDirectory,
    floorBytes,
  })
  const builder = createDockerBuilder({
    socketPath,
    baseImages: createBaseImages({ socketPath, database: ground.database, instance }, engine),
    clock,
    guard,
    network: config.buildNetwork,
    maxImageBytes,
    floorBytes,
  })
  return {
    engines: [{ name: localEngine, engine }],
    builders: [{ name: localEngine, builder }],
    routers: [{ name: localEngine, router: createOwnRouter({ controlSocket }) }],
  }
}
