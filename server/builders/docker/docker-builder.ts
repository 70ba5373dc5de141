import type { Readable } from 'node:stream'
import Docker from 'dockerode'
import type { AddressGuard } from '../../lib/address.ts'
import type { Attempt } from '../../lib/attempt.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/error.ts'
import type { BuildOrder } from '../build-order.ts'
import { BuildError, type Builder, type Image } from '../builder.ts'
import { type BuildBackend, createBuilder } from '../recipe-builder.ts'
import { type BuildResult, readBuildEvents } from './build-events.ts'
import { type BuildProgress, followProgress } from './build-progress.ts'
import { openBuildSession } from './build-session.ts'
import { dial } from './dial.ts'
import { findImage, hasImage, promoteImage, pruneImages } from './docker-images.ts'
import { dropLeftovers } from './drop-leftovers.ts'
import { explainFailure } from './explain-failure.ts'
import { createStepLimits, type StepLimits } from './step-limits.ts'

export interface DockerBuilderOptions {
  /** Unix socket of the Docker Engine. */
  readonly socketPath: string
  readonly clock?: Clock
  /** Says which registries of base images may be asked; without it all may be. */
  readonly guard?: Pick<AddressGuard, 'check'>
}

/**
 * Builds with the BuildKit of a Docker Engine on this machine. The context goes there as a tar stream, never as an address;
 * no credentials or keys are offered, and of secrets those of the recipe, to steps that mount them; steps have the engine's default network. See StepLimits for memory and cores.
 */
export function createDockerBuilder({ socketPath, clock = systemClock, guard }: DockerBuilderOptions): Builder {
  const docker = new Docker({ socketPath })
  let limits: Promise<StepLimits> | undefined
  const stepLimits = (): Promise<StepLimits> => {
    limits ??= readLayout(docker, clock)
    limits.catch(() => {
      limits = undefined
    })
    return limits
  }
  const backend: BuildBackend = {
    find: (order) => reaching(socketPath, () => findImage(docker, order)),
    has: (image) => reaching(socketPath, () => hasImage(docker, image)),
    promote: (digest, order) => reaching(socketPath, () => promoteImage(docker, digest, order)),
    build: (source, order, attempt) =>
      reaching(socketPath, async () => {
        const began = clock.now()
        try {
          return await build(docker, stepLimits, source, order, attempt)
        } catch (error) {
          if (error instanceof BuildError && error.reason === 'disk-full') await makeRoom(docker, began, attempt)
          throw error
        }
      }),
    prune: (service, keep, signal) => reaching(socketPath, () => pruneImages(docker, service, keep, signal)),
  }
  return createBuilder(backend, { clock, ...(guard && { guard }) })
}

async function build(
  docker: Docker,
  stepLimits: () => Promise<StepLimits>,
  source: Readable,
  order: BuildOrder,
  attempt: Attempt,
): Promise<Image> {
  const failed = (error: unknown): void =>
    attempt.output.line(`Memory and cores of one step are not limited: ${messageOf(error)}`, 'warning')
  const held = await (await stepLimits()).hold(order.limits, failed)
  if (!held.enforced) {
    attempt.output.line(
      'Memory and cores of this build are not limited: that needs root on the engine’s machine.',
      'warning',
    )
  }
  const session = await openBuildSession(docker, order.recipe.secrets ?? {}, attempt.signal).catch((error: unknown) => {
    held.release()
    throw error
  })
  const progress = followProgress(attempt.output)
  try {
    const request = { session: session.id, signal: attempt.signal, progress }
    const { imageId, error } = await requestBuild(docker, source, order, request)
    if (error !== undefined) {
      throw explainFailure({ error, step: progress.failedStep(), recipe: order.recipe, limited: held.enforced })
    }
    if (imageId === undefined)
      throw new BuildError('unreachable', 'The engine ended the build without a result. Deploy again.')
    return { reference: order.tag, digest: imageId }
  } finally {
    session.close()
    held.release()
  }
}

/** Sends the context and reads the answer until the build has ended. */
async function requestBuild(
  docker: Docker,
  source: Readable,
  order: BuildOrder,
  { session, signal, progress }: { session: string; signal: AbortSignal; progress: BuildProgress },
): Promise<BuildResult> {
  const { recipe, labels, buildArguments } = order
  const events = await dial(docker, {
    method: 'POST',
    path: '/build?',
    options: {
      version: 2,
      session,
      t: order.tag,
      dockerfile: recipe.dockerfile,
      labels,
      // Cache mounts are shared by their id alone; the namespace keeps those of one service from the others.
      buildargs: { ...buildArguments, BUILDKIT_CACHE_MOUNT_NS: recipe.service },
      networkmode: 'default',
      ...(recipe.targetStage ? { target: recipe.targetStage } : {}),
    },
    file: source,
    isStream: true,
    statusCodes: { 200: true, 400: 'bad request', 500: 'server error' },
    abortSignal: signal,
  })
  return await readBuildEvents(events, progress)
}

/** A build that fails for another reason is told with that. */
async function makeRoom(docker: Docker, began: Date, { output, signal }: Attempt): Promise<void> {
  await dropLeftovers(docker, began, signal).catch((error: unknown) => {
    output.line(`What the build left in the engine's cache could not be removed: ${messageOf(error)}`, 'warning')
  })
}

async function readLayout(docker: Docker, clock: Clock): Promise<StepLimits> {
  // dockerode's types leave these two of the documented fields out.
  const info = (await docker.info()) as { CgroupVersion?: string; CgroupDriver?: string }
  return createStepLimits({ version: info.CgroupVersion === '2' ? 2 : 1, driver: info.CgroupDriver ?? '' }, clock)
}

const connectionErrors = new Set(['ECONNREFUSED', 'ENOENT', 'EACCES', 'ECONNRESET', 'EPIPE'])

/** Says which engine does not answer instead of which socket call failed. */
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
