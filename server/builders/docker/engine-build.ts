import type { Readable } from 'node:stream'
import type { Attempt } from '../../lib/attempt.ts'
import { messageOf } from '../../lib/error.ts'
import type { SocketHttp } from '../../lib/socket-http.ts'
import type { BuildOrder } from '../build-order.ts'
import { type BuildProgress, followProgress } from '../build-progress.ts'
import { BuildError, type Image } from '../builder.ts'
import { explainFailure } from '../explain-failure.ts'
import type { BuildSecrets } from '../session-server.ts'
import { type BuildResult, readBuildEvents } from './build-events.ts'
import type { BuildSession } from './build-session.ts'
import { checkHeredocs } from './check-heredocs.ts'
import { checkMounts } from './check-mounts.ts'
import { imageSizeError } from './disk-floor.ts'
import { inspectImage, removeTag, sizeOf } from './docker-images.ts'
import { dropLeftovers } from './drop-leftovers.ts'
import type { EngineFacts } from './engine-facts.ts'

/** Loads the gRPC library at the first build, to save memory until then. */
async function openSession(...order: readonly [SocketHttp, BuildSecrets, AbortSignal]): Promise<BuildSession> {
  const { openBuildSession } = await import('./build-session.ts')
  return openBuildSession(...order)
}

/** One build. */
export interface BuildWork {
  readonly source: Readable
  readonly order: BuildOrder
  /** The names of base images in the Dockerfile. */
  readonly references: readonly string[]
  readonly attempt: Attempt
}

/**
 * Builds an image on the BuildKit inside the Docker Engine, because the platform's own one cannot
 * be used. Throws BuildError.
 */
export async function buildOnEngine(engine: EngineFacts, why: string, work: BuildWork): Promise<Image> {
  const { docker, version, clock } = engine
  const { recipe } = work.order
  checkHeredocs(recipe, version)
  const images = await Promise.all(work.references.map((reference) => inspectImage(docker, reference)))
  checkMounts(
    recipe,
    images.flatMap((image) => image?.Config.OnBuild ?? []),
    { version, why },
  )
  const began = clock.now()
  try {
    return await build(engine, work)
  } catch (error) {
    if (error instanceof BuildError && wroteTooMuch.has(error.reason)) await makeRoom(docker, began, work.attempt)
    throw error
  }
}

async function build(
  { docker, limits, network, maxImageBytes }: EngineFacts,
  { source, order, attempt }: BuildWork,
): Promise<Image> {
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

/** Reasons of failed builds whose leftovers are removed from the engine's cache. */
export const wroteTooMuch: ReadonlySet<BuildError['reason']> = new Set(['disk-full', 'size'])
