import { finished, type Readable } from 'node:stream'
import { AddressError, type AddressGuard } from '../lib/address.ts'
import type { Attempt, LineSink } from '../lib/attempt.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { startDeadline } from '../lib/deadline.ts'
import { bringImages, keepNames } from './bring-images.ts'
import { capLog } from './build-log.ts'
import { type BuildOrder, buildOrder } from './build-order.ts'
import { type BuildPlan, planBuild } from './build-plan.ts'
import { type BaseImages, BuildError, type Builder, type Image, type Promoted } from './builder.ts'
import { checkDockerfile, checkFrontend, checkRegistries } from './dockerfile-check.ts'
import { createIgnorer, readIgnoreFile } from './ignore-file.ts'
import { replaceFile } from './replace-file.ts'

/** The engine-specific half of a builder. `createBuilder` has the rules for all engines. */
export interface BuildBackend {
  find(order: BuildOrder, signal: AbortSignal): Promise<Image | undefined>
  has(image: Image, signal: AbortSignal): Promise<boolean>
  promote(digest: string, order: BuildOrder, signal: AbortSignal): Promise<Promoted | undefined>
  /**
   * Builds and tags the image. The total of lines is already capped. The signal ends the work.
   * `bases` are the references of base images in the Dockerfile. Throws BuildError.
   */
  build(source: Readable, order: BuildOrder, attempt: Attempt, bases: readonly string[]): Promise<Image>
  prune(service: string, keep: readonly string[], signal: AbortSignal): Promise<void>
}

export interface BuilderOptions {
  readonly baseImages: BaseImages
  readonly clock?: Clock
  /** Decides which registries may be contacted; without it, all of them. */
  readonly guard?: Pick<AddressGuard, 'check'>
}

/**
 * Creates a Builder from a backend. It rejects forbidden recipes, builds a recipe only once, and
 * enforces the timeout and the log limit. The backend gets a Dockerfile that is rewritten from the
 * checked one and names the fetched images.
 */
export function createBuilder(
  backend: BuildBackend,
  { baseImages, clock = systemClock, guard }: BuilderOptions,
): Builder {
  const running = new Map<string, Promise<unknown>>()
  return {
    find: (recipe, signal) => abortable(backend.find(buildOrder(recipe), signal), signal),
    has: (image, signal) => abortable(backend.has(image, signal), signal),
    promote: (digest, recipe, signal) => abortable(backend.promote(digest, buildOrder(recipe), signal), signal),
    // The engine already has the images that were built on it.
    publish: async ({ reference }) => reference,
    prune: (service, keep, signal) => abortable(backend.prune(service, keep, signal), signal),
    async build(source, recipe, attempt) {
      checkFrontend(recipe)
      const plan = planBuild(recipe)
      checkDockerfile(plan, recipe.dockerfile)
      if (guard) await checkRegistries(plan, recipe.dockerfile, (host) => refusalOf(guard, host, attempt.signal))
      if (recipe.ignoreFile) readIgnoreFile(recipe.ignoreFile)
      const order = buildOrder(recipe)
      if (running.has(order.tag)) attempt.output.line('The same image is already being built. Waiting for it.')
      // If the other build fails, a waiting caller builds for itself.
      for (let other = running.get(order.tag); other; other = running.get(order.tag)) {
        await abortable(other.catch(ignored), attempt.signal)
      }
      const work = { backend, baseImages, source, order, plan }
      const image = findOrBuild(work, { attempt, clock }).finally(() => running.delete(order.tag))
      running.set(order.tag, image)
      return await image
    },
  }
}

/** Time limit of a DNS query, so that it does not delay the build. */
const dnsMs = 5000

/**
 * Returns why a host is refused. An unresolved name is no reason: the engine may have the image.
 */
async function refusalOf(
  guard: Pick<AddressGuard, 'check'>,
  host: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    await guard.check(host.replace(/:\d+$/, ''), startDeadline(dnsMs, signal).signal)
    return undefined
  } catch (error) {
    signal.throwIfAborted()
    return error instanceof AddressError && error.reason === 'refused' ? error.message : undefined
  }
}

/** The inputs of one build. */
interface BuildWork {
  readonly backend: BuildBackend
  readonly baseImages: BaseImages
  readonly source: () => Promise<Readable>
  readonly order: BuildOrder
  readonly plan: BuildPlan
}

async function findOrBuild(work: BuildWork, { attempt, clock }: { attempt: Attempt; clock: Clock }): Promise<Image> {
  const { backend, order } = work
  const found = await abortable(backend.find(order, attempt.signal), attempt.signal)
  if (found) {
    attempt.output.line(`The image of this commit and recipe already exists: ${found.reference}`)
    return found
  }
  const stop = new AbortController()
  const timeout = timeoutError(order.limits.timeoutSeconds)
  clock.sleep(order.limits.timeoutSeconds * 1000, stop.signal).then(() => stop.abort(timeout), ignored)
  const onAbort = (): void => stop.abort(attempt.signal.reason)
  attempt.signal.addEventListener('abort', onAbort, { once: true })
  try {
    attempt.signal.throwIfAborted()
    return await buildFrom(work, { stop, output: capLog(attempt.output, order.limits.maxLogBytes) })
  } catch (error) {
    // After a stop the engine's error is only a consequence. The reason for the stop is thrown.
    throw stop.signal.aborted ? stop.signal.reason : error
  } finally {
    attempt.signal.removeEventListener('abort', onAbort)
    stop.abort()
  }
}

async function buildFrom(
  work: BuildWork,
  { stop, output }: { stop: AbortController; output: LineSink },
): Promise<Image> {
  const { backend, source, order, plan, baseImages } = work
  const attempt = { signal: stop.signal, output }
  const bringing = bringImages(baseImages, plan, order.recipe, attempt)
  bringing.then((late) => (stop.signal.aborted ? late[Symbol.asyncDispose]() : undefined), ignored)
  await using images = await abortable(bringing, stop.signal)
  const opening = source()
  opening.then((late) => stop.signal.aborted && late.destroy(), ignored)
  const stream = await abortable(opening, stop.signal)
  // If the source ended early, the engine would wait for the rest.
  const forget = finished(stream, { writable: false }, (error) => error && stop.abort(error))
  try {
    const { dockerfile, ignoreFile } = order.recipe
    const context = replaceFile(stream, dockerfile, plan.write(images.references), {
      addsIt: order.recipe.hasOwnDockerfile === true,
      ignorer: ignoreFile && createIgnorer(ignoreFile),
    })
    const bases = [...images.references.values()]
    return await keepNames(images, attempt, (named) => backend.build(context, order, named, bases))
  } finally {
    forget()
    stream.on('error', ignored).destroy()
  }
}

const timeoutError = (seconds: number): BuildError =>
  new BuildError(
    'timeout',
    `The build did not end within ${seconds} s and was stopped. Make it shorter and deploy again.`,
  )

async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal.reason)
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

function ignored(): void {}
