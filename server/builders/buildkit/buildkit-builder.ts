import { randomUUID } from 'node:crypto'
import type { Duplex, Readable } from 'node:stream'
import { ConnectError } from '@connectrpc/connect'
import { type BuildResults, EngineError, type PublicImage, type ResultReceiver } from '../../engines/index.ts'
import type { AddressGuard } from '../../lib/address.ts'
import { type Attempt, silent } from '../../lib/attempt.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { type BuildOrder, repositoryOf } from '../build-order.ts'
import { type BuildProgress, followProgress } from '../build-progress.ts'
import { BuildError, type Builder, type Image } from '../builder.ts'
import { explainFailure } from '../explain-failure.ts'
import { type BuildBackend, createBuilder } from '../recipe-builder.ts'
import { serveSession } from '../session-server.ts'
import { readStatus } from '../trace.ts'
import { type BaseImageOptions, createBuildKitBaseImages } from './buildkit-base-images.ts'
import { maxContentMessageBytes, serveContent } from './content-service.ts'
import { serveContext } from './context-service.ts'
import { createDaemonClient, type DaemonClient } from './daemon-client.ts'
import { openSessionStream } from './session-stream.ts'
import { digestKey, solveRequest } from './solve-request.ts'

export interface BuildKitBuilderOptions {
  /** Opens a connection to a BuildKit daemon. Throws BuildError. */
  readonly openDaemon: (attempt: Attempt) => Promise<Duplex>
  /** Keeps the images. */
  readonly results: BuildResults
  readonly bases: BaseImageOptions
  readonly clock?: Clock
  /** Decides which registries of base images may be contacted; without it, all of them. */
  readonly guard?: Pick<AddressGuard, 'check'>
}

/**
 * Creates a builder on a BuildKit daemon that is reached over a stream. The daemon needs no
 * registry and no credentials: the session brings the context and base images, and takes the
 * result. It is not trusted with anything that the build does not need.
 */
export function createBuildKitBuilder(options: BuildKitBuilderOptions): Builder {
  const { openDaemon, results, clock = systemClock, guard } = options
  const baseImages = createBuildKitBaseImages(options.bases)
  const quiet = (signal: AbortSignal): Attempt => ({ signal, output: silent })
  const backend: BuildBackend = {
    async find({ tag }, signal) {
      const found = await results.find(stored(tag), quiet(signal))
      return found && { reference: tag, digest: found.id }
    },
    async has({ reference, digest }, signal) {
      return (await results.find(stored(reference), quiet(signal)))?.id === digest
    },
    async promote(digest, { tag }, signal) {
      const ending = `-${tag.split(':')[1]}`
      const found = await results.tagAgain(digest, ending, stored(tag), quiet(signal))
      return found && { reference: tag, digest: found.id, builtAt: found.builtAt }
    },
    async build(source, order, attempt, references) {
      const bases = references.flatMap((reference) => {
        const image = baseImages.held(reference)
        return image ? [{ reference, image }] : []
      })
      return build({ openDaemon, results, bases }, source, order, attempt)
    },
    async prune(service, keep, signal) {
      const kept = new Set(keep)
      const name = repositoryOf(service)
      for (const tag of await results.list(stored(`${name}:`), quiet(signal))) {
        const reference = `${name}:${tag.slice(service.length + 1)}`
        if (kept.has(reference)) continue
        const id = kept.size > 0 ? (await results.find(tag, quiet(signal)))?.id : undefined
        if (id === undefined || !kept.has(id)) await results.remove(tag, quiet(signal))
      }
    },
  }
  return createBuilder(backend, { clock, baseImages, ...(guard && { guard }) })
}

/** Returns the tag in the registry: `quayside/<service>:<hash>` is `<service>-<hash>`. */
const stored = (reference: string): string => reference.replace(/^quayside\//, '').replace(':', '-')

/** Returns the tag of an image that was built for a service. Undefined for other images. */
export const storedTag = (reference: string): string | undefined =>
  /^quayside\/[a-z0-9-]+:[0-9a-f]{40}$/.test(reference) ? stored(reference) : undefined

interface Work extends Pick<BuildKitBuilderOptions, 'openDaemon' | 'results'> {
  readonly bases: readonly { readonly reference: string; readonly image: PublicImage }[]
}

async function build(work: Work, source: Readable, order: BuildOrder, attempt: Attempt): Promise<Image> {
  const stop = new AbortController()
  const bounded = { ...attempt, signal: AbortSignal.any([attempt.signal, stop.signal]) }
  try {
    await using result = await work.results.receive(bounded)
    const stream = await work.openDaemon(bounded)
    using daemon = createDaemonClient(stream)
    // A call with an aborted signal would leave a rejection that nothing waits for.
    bounded.signal.throwIfAborted()
    const manifest = await solve(
      { ...work, daemon, result, fail: (error) => stop.abort(error) },
      source,
      order,
      bounded,
    )
    const { id } = await result.finish(manifest, stored(order.tag), order.labels)
    return { reference: order.tag, digest: id }
  } catch (error) {
    attempt.signal.throwIfAborted()
    throw explained(stop.signal.aborted ? stop.signal.reason : error)
  }
}

interface Solving extends Work {
  readonly daemon: DaemonClient
  readonly result: ResultReceiver
  readonly fail: (error: unknown) => void
}

/** Runs the build, and returns the digest of the manifest of its image. */
async function solve(work: Solving, source: Readable, order: BuildOrder, attempt: Attempt): Promise<string> {
  const { daemon, bases, result, fail } = work
  const { signal } = attempt
  const [session, reference] = [randomUUID(), randomUUID()]
  const endSession = serveSession(openSessionStream(daemon, session, signal), {
    secrets: order.recipe.secrets ?? {},
    maxMessageBytes: maxContentMessageBytes,
    more: (router) => {
      serveContext(router, source)
      serveContent(router, { bases: bases.map(({ image }) => image), result, attempt, fail })
    },
  })
  const progress = followProgress(attempt.output)
  const over = new AbortController()
  const following = follow(daemon, reference, progress, AbortSignal.any([signal, over.signal]))
  try {
    const images = bases.map(({ reference: name, image }) => ({ reference: name, digest: image.digest }))
    const request = solveRequest(order, { session, reference, bases: images })
    const { ExporterResponse } = await daemon.control.solve(request, { signal })
    await following
    return ExporterResponse[digestKey] ?? ''
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof ConnectError) || isLost(error)) throw error
    await following
    const step = progress.failedStep()
    throw explainFailure({ error: error.rawMessage, step, recipe: order.recipe, limited: false })
  } finally {
    over.abort()
    await following
    endSession()
  }
}

/** Passes reports of the daemon on until the build has ended. */
async function follow(
  { control }: DaemonClient,
  reference: string,
  progress: BuildProgress,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const report of control.status({ Ref: reference }, { signal })) progress.report(readStatus(report))
  } catch (error) {
    // The answer to the build itself says what happened.
    if (!(error instanceof ConnectError)) throw error
  } finally {
    progress.end()
  }
}

/** Whether the error comes from the connection and not from BuildKit. */
const isLost = ({ cause, rawMessage }: ConnectError): boolean =>
  cause instanceof Error || rawMessage.startsWith('http/2 stream closed')

function explained(error: unknown): unknown {
  if (error instanceof EngineError) {
    const reason = error.reason === 'disk-full' ? 'disk-full' : error.reason === 'refused' ? 'size' : 'failed'
    return new BuildError(reason, error.message, { cause: error })
  }
  if (!(error instanceof ConnectError)) return error
  const why = error.cause instanceof Error ? error.cause.message : error.rawMessage
  return new BuildError(
    'unreachable',
    `The builder ended the connection (${why}). It may have been restarted or have run out of memory. Deploy again.`,
    { cause: error },
  )
}
