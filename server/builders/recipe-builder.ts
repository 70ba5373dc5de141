import { finished, type Readable } from 'node:stream'
import { AddressError, type AddressGuard } from '../lib/address.ts'
import type { Attempt, LineSink } from '../lib/attempt.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { capLog } from './build-log.ts'
import { type BuildOrder, buildOrder } from './build-order.ts'
import { BuildError, type Builder, type BuildRecipe, type Image, type Promoted } from './builder.ts'
import { checkDockerfile, checkRegistries } from './dockerfile-check.ts'
import { replaceFile, requestedFrontend, withoutSyntaxLine } from './official-frontend.ts'

/** What one engine does for a builder; everything that holds for all engines is in `createBuilder`. */
export interface BuildBackend {
  find(order: BuildOrder, signal: AbortSignal): Promise<Image | undefined>
  has(image: Image, signal: AbortSignal): Promise<boolean>
  promote(digest: string, order: BuildOrder, signal: AbortSignal): Promise<Promoted | undefined>
  /** Builds and tags. Lines are already capped in total; the signal ends the work. Throws BuildError. */
  build(source: Readable, order: BuildOrder, attempt: Attempt): Promise<Image>
  prune(service: string, keep: readonly string[], signal: AbortSignal): Promise<void>
}

/**
 * A Builder out of a backend: refuses what is not allowed, builds the same recipe once, keeps to the limits of time and log. `guard` says which
 * registries may be asked.
 */
export function createBuilder(
  backend: BuildBackend,
  { clock = systemClock, guard }: { readonly clock?: Clock; readonly guard?: Pick<AddressGuard, 'check'> } = {},
): Builder {
  const running = new Map<string, Promise<unknown>>()
  return {
    find: (recipe, signal) => abortable(backend.find(buildOrder(recipe), signal), signal),
    has: (image, signal) => abortable(backend.has(image, signal), signal),
    promote: (digest, recipe, signal) => abortable(backend.promote(digest, buildOrder(recipe), signal), signal),
    prune: (service, keep, signal) => abortable(backend.prune(service, keep, signal), signal),
    async build(source, recipe, attempt) {
      checkDockerfile(recipe)
      if (guard) await checkRegistries(recipe, (host) => refusalOf(guard, host, attempt.signal))
      const order = buildOrder(recipe)
      if (running.has(order.tag)) attempt.output.line('The same image is being built already; waiting for it.')
      // Someone else's failure is theirs: whoever waited then looks and builds for itself.
      for (let other = running.get(order.tag); other; other = running.get(order.tag)) {
        await abortable(other.catch(ignored), attempt.signal)
      }
      const image = findOrBuild(backend, source, order, { attempt, clock }).finally(() => running.delete(order.tag))
      running.set(order.tag, image)
      return await image
    },
  }
}

/** Asking DNS shall not hold a build. */
const dnsMs = 5000

/** A name that stands for nothing is the engine's to tell: it may have the image. */
async function refusalOf(
  guard: Pick<AddressGuard, 'check'>,
  host: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    await guard.check(host.replace(/:\d+$/, ''), AbortSignal.any([signal, AbortSignal.timeout(dnsMs)]))
    return undefined
  } catch (error) {
    signal.throwIfAborted()
    return error instanceof AddressError && error.reason === 'refused' ? error.message : undefined
  }
}

async function findOrBuild(
  backend: BuildBackend,
  source: () => Promise<Readable>,
  order: BuildOrder,
  { attempt, clock }: { attempt: Attempt; clock: Clock },
): Promise<Image> {
  const found = await abortable(backend.find(order, attempt.signal), attempt.signal)
  if (found) {
    attempt.output.line(`The image of this commit and recipe is there already: ${found.reference}`)
    return found
  }
  const stop = new AbortController()
  const timeout = timeoutError(order.limits.timeoutSeconds)
  clock.sleep(order.limits.timeoutSeconds * 1000, stop.signal).then(() => stop.abort(timeout), ignored)
  const onAbort = (): void => stop.abort(attempt.signal.reason)
  attempt.signal.addEventListener('abort', onAbort, { once: true })
  try {
    attempt.signal.throwIfAborted()
    return await buildFrom(backend, source, order, { stop, output: capLog(attempt.output, order.limits.maxLogBytes) })
  } catch (error) {
    // Whoever stopped the build knows why; what the engine says about it is only the consequence.
    throw stop.signal.aborted ? stop.signal.reason : error
  } finally {
    attempt.signal.removeEventListener('abort', onAbort)
    stop.abort()
  }
}

async function buildFrom(
  backend: BuildBackend,
  source: () => Promise<Readable>,
  order: BuildOrder,
  { stop, output }: { stop: AbortController; output: LineSink },
): Promise<Image> {
  const opening = source()
  opening.then((late) => stop.signal.aborted && late.destroy(), ignored)
  const stream = await abortable(opening, stop.signal)
  // A source that breaks off would leave the engine waiting for the rest of it.
  const forget = finished(stream, { writable: false }, (error) => error && stop.abort(error))
  try {
    return await backend.build(plainSource(stream, order.recipe), order, { signal: stop.signal, output })
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

/** The context as the built-in frontend reads it, where the Dockerfile asks for Docker's own one. */
function plainSource(stream: Readable, { dockerfile, dockerfileText, hasOwnDockerfile }: BuildRecipe): Readable {
  if (hasOwnDockerfile) return replaceFile(stream, dockerfile, withoutSyntaxLine(dockerfileText), { addsIt: true })
  if (requestedFrontend(dockerfileText) === undefined) return stream
  return replaceFile(stream, dockerfile, withoutSyntaxLine(dockerfileText))
}
