import type { Readable } from 'node:stream'
import type { AddressGuard } from '../../lib/address.ts'
import type { Attempt } from '../../lib/attempt.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/error.ts'
import { SocketHttp } from '../../lib/socket-http.ts'
import type { BuildOrder } from '../build-order.ts'
import { type BuildProgress, followProgress } from '../build-progress.ts'
import { type BaseImages, BuildError, type Builder, type Image } from '../builder.ts'
import { explainFailure } from '../explain-failure.ts'
import { type BuildBackend, createBuilder } from '../recipe-builder.ts'
import type { BuildSecrets } from '../session-server.ts'
import { type BuildResult, readBuildEvents } from './build-events.ts'
import type { BuildSession } from './build-session.ts'
import { checkHeredocs } from './check-heredocs.ts'
import { type DiskFloor, imageSizeError, watchFloor } from './disk-floor.ts'
import { createDockerBaseImages } from './docker-base-images.ts'
import { findImage, hasImage, promoteImage, pruneImages, removeTag, sizeOf } from './docker-images.ts'
import { dropLeftovers } from './drop-leftovers.ts'
import { createStepLimits, type StepLimits } from './step-limits.ts'
import { createStepPorts, type StepPorts } from './step-ports.ts'

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
  /** A larger image fails its build. */
  readonly maxImageBytes?: number
  /** The free space that builds leave on the engine's disk; `usualFloor` by default. */
  readonly floorBytes?: number | undefined
}

/**
 * Creates a builder on the BuildKit of a Docker Engine on this machine. The context is sent as a
 * tar stream, never as an address. BuildKit gets no credentials or keys, and only the recipe's
 * secrets, for steps that mount them. StepLimits describes memory and cores, DiskFloor the disk.
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
    build: (source, order, attempt) =>
      reaching(socketPath, async () => {
        const began = clock.now()
        try {
          const engine = await facts()
          return await aboveFloor(engine.floor, attempt, (bounded) => build(engine, source, order, bounded))
        } catch (error) {
          if (error instanceof BuildError && wroteTooMuch.has(error.reason)) await makeRoom(docker, began, attempt)
          throw error
        }
      }),
    prune: (service, keep, signal) => reaching(socketPath, () => pruneImages(docker, service, keep, signal)),
  }
  const reached: BaseImages = {
    bring: (image, organization, attempt) => reaching(socketPath, () => baseImages.bring(image, organization, attempt)),
  }
  return createBuilder(backend, { clock, baseImages: reached, ...(guard && { guard }) })
}

/** Reasons of failed builds whose leftovers are removed from the engine's cache. */
const wroteTooMuch: ReadonlySet<BuildError['reason']> = new Set(['disk-full', 'size'])

/** The engine and its limits, read once. */
interface EngineFacts {
  readonly docker: SocketHttp
  readonly limits: StepLimits
  readonly floor: DiskFloor
  readonly network: 'default' | 'none'
  readonly maxImageBytes: number
  readonly version: string
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

/** Loads the gRPC library at the first build, to save memory until then. */
async function openSession(...order: readonly [SocketHttp, BuildSecrets, AbortSignal]): Promise<BuildSession> {
  const { openBuildSession } = await import('./build-session.ts')
  return openBuildSession(...order)
}

async function build(
  { docker, limits, network, maxImageBytes, version }: EngineFacts,
  source: Readable,
  order: BuildOrder,
  attempt: Attempt,
): Promise<Image> {
  checkHeredocs(order.recipe, version)
  const held = await limits.hold(order.limits, (problem) => attempt.output.line(problem, 'warning'))
  if (!held.enforced) {
    attempt.output.line(
      'This build has no limits of memory and cores, and its steps are not isolated from other builds. Both ' +
        'need root on the engine’s machine.',
      'warning',
    )
  }
  const session = await openSession(docker, order.recipe.secrets ?? {}, attempt.signal).catch((error: unknown) => {
    held.release()
    throw error
  })
  const progress = followProgress(attempt.output)
  try {
    const request = { session: session.id, signal: attempt.signal, progress, network }
    const { imageId, error } = await requestBuild(docker, source, order, request)
    if (error !== undefined) {
      throw explainFailure({ error, step: progress.failedStep(), recipe: order.recipe, limited: held.enforced })
    }
    if (imageId === undefined)
      throw new BuildError('unreachable', 'The engine ended the build without a result. Deploy again.')
    const bytes = await sizeOf(docker, imageId)
    if (bytes > maxImageBytes) {
      await removeTag(docker, order.tag, attempt.signal)
      throw imageSizeError(bytes, maxImageBytes)
    }
    return { reference: order.tag, digest: imageId }
  } finally {
    session.close()
    held.release()
  }
}

/** Sends the context and reads the answer until the build ends. */
async function requestBuild(
  docker: SocketHttp,
  source: Readable,
  order: BuildOrder,
  request: { session: string; signal: AbortSignal; progress: BuildProgress; network: 'default' | 'none' },
): Promise<BuildResult> {
  const { recipe, labels, buildArguments } = order
  const { session, signal, progress, network } = request
  const events = await docker.stream({
    method: 'POST',
    path: '/build',
    query: {
      version: 2,
      session,
      t: order.tag,
      dockerfile: recipe.dockerfile,
      labels,
      // BuildKit shares cache mounts by id alone. The namespace separates the services.
      buildargs: { ...buildArguments, BUILDKIT_CACHE_MOUNT_NS: recipe.service },
      networkmode: network,
      ...(recipe.ignoresCache ? { nocache: true } : {}),
      ...(recipe.targetStage ? { target: recipe.targetStage } : {}),
    },
    file: source,
    signal,
  })
  return await readBuildEvents(events, progress)
}

/** Removes leftovers. Its own failure is only logged: the build's error is reported. */
async function makeRoom(docker: SocketHttp, began: Date, { output, signal }: Attempt): Promise<void> {
  await dropLeftovers(docker, began, signal).catch((error: unknown) => {
    output.line(`Could not remove the build's leftovers from the engine's cache: ${messageOf(error)}`, 'warning')
  })
}

async function readFacts(docker: SocketHttp, options: DockerBuilderOptions, clock: Clock): Promise<EngineFacts> {
  // The engine is trusted to keep to its API.
  const info = (await docker.json({ method: 'GET', path: '/info', signal: AbortSignal.timeout(60_000) })) as {
    CgroupVersion?: string
    CgroupDriver?: string
    DockerRootDir?: string
    ServerVersion?: string
  }
  const layout = { version: info.CgroupVersion === '2' ? 2 : 1, driver: info.CgroupDriver ?? '' } as const
  return {
    docker,
    limits: createStepLimits(layout, clock, options.network === 'none' ? {} : { ports: portsOf(docker, clock) }),
    floor: { directory: info.DockerRootDir ?? '', floorBytes: options.floorBytes, clock },
    network: options.network ?? 'default',
    version: info.ServerVersion ?? '',
    maxImageBytes: options.maxImageBytes ?? Number.POSITIVE_INFINITY,
  }
}

const portsOf = (docker: SocketHttp, clock: Clock): StepPorts =>
  createStepPorts({
    clock,
    bridge: async () => {
      const signal = AbortSignal.timeout(60_000)
      const found = (await docker.json({ method: 'GET', path: '/networks/bridge', signal })) as {
        Options?: Readonly<Record<string, string>>
        Containers?: Readonly<Record<string, { readonly MacAddress: string; readonly IPv4Address: string }>>
      }
      const members = Object.values(found.Containers ?? {})
      return {
        name: found.Options?.['com.docker.network.bridge.name'] ?? 'docker0',
        macs: new Map(members.map(({ IPv4Address, MacAddress }) => [IPv4Address.split('/')[0] ?? '', MacAddress])),
      }
    },
  })

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
