import { join } from 'node:path'
import { type Builder, createDockerBuilder, createOwnBuildKit, type NamedBuilder } from '../builders/index.ts'
import type { Certificates } from '../certificates/index.ts'
import type { Connection } from '../clusters/index.ts'
import { type Config, socketOf } from '../config.ts'
import type { Database } from '../database/index.ts'
import { platformRoutes } from '../domains/index.ts'
import { DockerEngine, type Engine, type NamedEngine } from '../engines/index.ts'
import { createAddressGuard } from '../lib/address.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { gibibytes } from '../lib/gibibytes.ts'
import type { Logger } from '../lib/log.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import { createOwnRouter, type NamedRouter, type Router, type RouterProcessOptions } from '../routers/index.ts'
import type { Vault } from '../vault/index.ts'
import type { Duty } from '../workflows/index.ts'
import { createBaseImages, fetchPublic } from './base-images.ts'
import { driversOf } from './connecting.ts'

/** The parts that exist before the rooms. main or a test opens them. */
export interface Ground {
  readonly config: Config
  readonly log: Logger
  readonly database: Database
  /**
   * The URL of the same database, for the connection that listens. Without it, changes by other
   * processes are found by polling.
   */
  readonly databaseUrl?: string
  readonly vault: Vault
  readonly pepper: Buffer
  /** The previous public URLs of the API, see `config.publicUrl`. */
  readonly formerUrls: readonly string[]
  /** Identifies the containers of this installation on an engine that several share. */
  readonly instance: string
  /** The router process of this machine. */
  readonly routerProcess: RouterProcessOptions
  /** The certificates of that process, and of routers in clusters. */
  readonly certificates: Certificates
  /** Run in addition to the reconcilers of the rooms. */
  readonly reconcilers: readonly Reconciler[]
  /** Run in each of the servers that share the database. */
  readonly always: readonly Reconciler[]
  /** The right to work without a request, which one of these servers has. */
  readonly duty: Duty
}

/** The parts that tests replace by fakes. Each engine has a builder and a router. */
export interface Drivers {
  readonly engines: readonly NamedEngine[]
  readonly builders: readonly NamedBuilder[]
  readonly routers: readonly NamedRouter[]
  /** Creates the drivers of a cluster that a user connected. Asks nobody yet. */
  readonly connect: (connection: Connection) => ClusterDrivers
}

/** The drivers of one connected cluster. */
export interface ClusterDrivers {
  readonly engine: Engine
  readonly builder: Builder
  readonly router: Router
  /** Ends what runs beside calls. The cluster was disconnected, or has another kubeconfig. */
  readonly close: () => void
}

/** The drivers of an installation with a Docker Engine. */
export function createDrivers(ground: Ground): Drivers {
  const { config, instance, routerProcess, log } = ground
  const socketPath = socketOf(config)
  const guard = createAddressGuard({ allowedPrivateCidrs: config.allowPrivateTargets })
  const maxImageBytes = gibibytes(config.imageSizeGiB)
  const spoolDirectory = join(config.scratchDirectory, 'fetches')
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
    runsStacks: config.runnerImages.length > 0,
  })
  const images = { socketPath, database: ground.database, instance }
  const builder = createDockerBuilder({
    socketPath,
    baseImages: createBaseImages(images, engine),
    buildKit: createOwnBuildKit({
      socketPath,
      instance,
      clock,
      network: config.buildNetwork,
      image: config.builderImage,
      fetch: fetchPublic(images, engine),
      spoolDirectory: join(config.scratchDirectory, 'builds'),
      maxImageBytes,
    }),
    clock,
    guard,
    network: config.buildNetwork,
    maxImageBytes,
    floorBytes,
  })
  return driversOf(ground, {
    engine,
    builder,
    router: createOwnRouter({
      process: routerProcess,
      certificates: ground.certificates.source,
      always: platformRoutes(config),
    }),
    images: engine,
    building: {
      cannotBuild: undefined,
      builderOf: () => builder,
      pushOf: () => (image, target, attempt) => engine.pushImage(image, target, attempt),
    },
    pushProblem: (target, signal) => engine.pushProblem(target, signal),
  })
}
