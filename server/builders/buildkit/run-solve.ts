import { randomUUID } from 'node:crypto'
import type { Duplex, Readable } from 'node:stream'
import { ConnectError } from '@connectrpc/connect'
import { EngineError, type ImageContent, type ResultReceiver } from '../../engines/index.ts'
import type { Attempt } from '../../lib/attempt.ts'
import type { BuildOrder } from '../build-order.ts'
import { type BuildProgress, followProgress } from '../build-progress.ts'
import { BuildError } from '../builder.ts'
import { explainFailure } from '../explain-failure.ts'
import { serveSession } from '../session-server.ts'
import { readStatus } from '../trace.ts'
import { maxContentMessageBytes, serveContent } from './content-service.ts'
import { serveContext } from './context-service.ts'
import { createDaemonClient, type DaemonClient } from './daemon-client.ts'
import { openSessionStream } from './session-stream.ts'
import { digestKey, solveRequest } from './solve-request.ts'

export interface DaemonBuild {
  /** Opens a connection to a BuildKit daemon. */
  readonly openDaemon: (attempt: Attempt) => Promise<Duplex>
  readonly receive: (attempt: Attempt) => Promise<ResultReceiver>
  /** The base images, by their names in the written Dockerfile. */
  readonly bases: readonly { readonly reference: string; readonly image: ImageContent }[]
  /** The name of the result for its receiver. */
  readonly tag: string
  /** Whether the layers of the result are not compressed. */
  readonly isUnpacked?: boolean
  /** Whether a killed step most likely ran out of the recipe's memory. */
  readonly isLimited?: boolean
}

/** Builds an image on a daemon, and returns the id of the image. Throws BuildError. */
export async function buildOnDaemon(
  work: DaemonBuild,
  source: Readable,
  order: BuildOrder,
  attempt: Attempt,
): Promise<string> {
  const stop = new AbortController()
  const bounded = { ...attempt, signal: AbortSignal.any([attempt.signal, stop.signal]) }
  try {
    await using result = await work.receive(bounded)
    const stream = await work.openDaemon(bounded)
    using daemon = createDaemonClient(stream)
    // A call with an aborted signal would leave a rejection that nothing waits for.
    bounded.signal.throwIfAborted()
    const fail = (error: unknown): void => stop.abort(error)
    const manifest = await solve({ ...work, daemon, result, fail }, source, order, bounded)
    return (await result.finish(manifest, work.tag, order.labels)).id
  } catch (error) {
    attempt.signal.throwIfAborted()
    throw explained(stop.signal.aborted ? stop.signal.reason : error)
  }
}

interface Solving extends DaemonBuild {
  readonly daemon: DaemonClient
  readonly result: ResultReceiver
  readonly fail: (error: unknown) => void
}

/** Runs the build, and returns the digest of the manifest of its image. */
async function solve(work: Solving, source: Readable, order: BuildOrder, attempt: Attempt): Promise<string> {
  const { daemon, bases, result, fail, isUnpacked = false, isLimited = false } = work
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
    const request = solveRequest(order, { session, reference, bases: images, isUnpacked })
    const { ExporterResponse } = await daemon.control.solve(request, { signal })
    await following
    return ExporterResponse[digestKey] ?? ''
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof ConnectError) || isLost(error)) throw error
    await following
    const step = progress.failedStep()
    throw explainFailure({ error: error.rawMessage, step, recipe: order.recipe, limited: isLimited })
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
