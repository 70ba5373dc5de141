import type { AddressGuard } from '../../lib/address.ts'
import type { Attempt } from '../../lib/attempt.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/error.ts'
import { SocketHttp } from '../../lib/socket-http.ts'
import { type BaseImages, BuildError, type Builder, type Image } from '../builder.ts'
import { type BuildBackend, createBuilder } from '../recipe-builder.ts'
import { chooseBuildKit } from './choose-buildkit.ts'
import { type DiskFloor, watchFloor } from './disk-floor.ts'
import { createDockerBaseImages } from './docker-base-images.ts'
import { findImage, hasImage, promoteImage, pruneImages } from './docker-images.ts'
import { buildOnEngine } from './engine-build.ts'
import { type EngineFacts, readFacts } from './engine-facts.ts'
import { buildOnOwn } from './own-build.ts'
import type { OwnBuildKit } from './own-buildkit.ts'

export interface DockerBuilderOptions {
  /** Unix socket of the Docker Engine. */
  readonly socketPath: string
  readonly clock?: Clock
  /** Decides which registries of base images may be contacted; without it, all of them. */
  readonly guard?: Pick<AddressGuard, 'check'>
  /** Brings base images. Without it only images that the engine already has are used. */
  readonly baseImages?: BaseImages
  /**
   * The network of build steps; 'none' is no network at all. The engine fetches base images either
   * way.
   */
  readonly network?: 'default' | 'none'
  /**
   * The platform's own BuildKit. Without it, or if it cannot be used, the engine's own one builds,
   * with fewer features.
   */
  readonly buildKit?: OwnBuildKit | undefined
  /** A larger image fails its build. */
  readonly maxImageBytes?: number
  /** The free space that builds leave on the engine's disk; `usualFloor` by default. */
  readonly floorBytes?: number | undefined
}

/**
 * Creates a builder whose images are kept by a Docker Engine on this machine. They are built by the
 * platform's own BuildKit (ADR 0132), or else by the engine's. The context is sent as a tar stream,
 * never as an address. BuildKit gets no credentials or keys, and only the recipe's secrets, for
 * steps that mount them. DiskFloor describes the disk, StepLimits memory and cores of steps that
 * the engine runs.
 */
export function createDockerBuilder(options: DockerBuilderOptions): Builder {
  const {
    socketPath,
    clock = systemClock,
    guard,
    baseImages = createDockerBaseImages({ socketPath, namespace: `process-${process.pid}` }),
  } = options
  const docker = new SocketHttp({ socketPath })
  let known: Promise<EngineFacts> | undefined
  const facts = (): Promise<EngineFacts> => {
    known ??= readFacts(docker, options, clock)
    known.catch(() => {
      known = undefined
    })
    return known
  }
  const backend: BuildBackend = {
    find: (order) => reaching(socketPath, () => findImage(docker, order)),
    has: (image) => reaching(socketPath, () => hasImage(docker, image)),
    promote: (digest, order) => reaching(socketPath, () => promoteImage(docker, digest, order)),
    build: (source, order, attempt, references) =>
      reaching(socketPath, async () => {
        const engine = await facts()
        return await aboveFloor(engine.floor, attempt, async (bounded) => {
          const chosen = await chooseBuildKit(options.buildKit, engine, order, bounded)
          const work = { source, order, references, attempt: bounded }
          if ('why' in chosen) return await buildOnEngine(engine, chosen.why, work)
          using held = chosen
          return await buildOnOwn(engine, held, work)
        })
      }),
    prune: (service, keep, signal) => reaching(socketPath, () => pruneImages(docker, service, keep, signal)),
  }
  const reached: BaseImages = {
    bring: (image, organization, attempt) => reaching(socketPath, () => baseImages.bring(image, organization, attempt)),
  }
  return createBuilder(backend, { clock, baseImages: reached, ...(guard && { guard }) })
}

/** Ends the build when the disk gets too full for running services. */
async function aboveFloor(
  floor: DiskFloor,
  attempt: Attempt,
  work: (attempt: Attempt) => Promise<Image>,
): Promise<Image> {
  const [stop, over] = [new AbortController(), new AbortController()]
  const watching = watchFloor(floor, stop, over.signal)
  try {
    return await work({ ...attempt, signal: AbortSignal.any([attempt.signal, stop.signal]) })
  } catch (error) {
    throw stop.signal.aborted && !attempt.signal.aborted ? stop.signal.reason : error
  } finally {
    over.abort()
    await watching
  }
}

const connectionErrors = new Set(['ECONNREFUSED', 'ENOENT', 'EACCES', 'ECONNRESET', 'EPIPE'])

/** Turns a connection error into one that names the engine. */
async function reaching<T>(socketPath: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || !connectionErrors.has(String(error.code))) throw error
    throw new BuildError(
      'unreachable',
      `The Docker Engine at ${socketPath} does not answer (${messageOf(error)}). Start it and deploy again.`,
      { cause: error },
    )
  }
}
