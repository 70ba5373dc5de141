import { createHash } from 'node:crypto'
import { EngineError, localBuilderImage, publishedBuilderImage } from '../../engines/index.ts'
import type { Attempt } from '../../lib/attempt.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/error.ts'
import type { SocketHttp } from '../../lib/socket-http.ts'
import { withoutFullStop } from '../../lib/without-full-stop.ts'
import { inspectImage, tagImage } from './docker-images.ts'

export interface FindBuilderImageOptions {
  readonly docker: SocketHttp
  readonly clock: Clock
  /** The image that the operator named. */
  readonly image?: string | undefined
  /** Fetches an image to the engine, and returns its name there. Throws Error with the reason. */
  readonly fetch?: ((image: string, attempt: Attempt) => Promise<string>) | undefined
}

/** A registry that does not answer must not delay every build. */
const retryMs = 600_000

/** Tags of fetched images. Without one, an image would be removed as unused. */
const fetchedRepository = 'quayside/builder-fetched'

/**
 * Returns a function that finds the image of BuildKit: the one of the operator, the one that was
 * made on this machine, or the published one. Asks a registry only for the first time. Throws
 * EngineError with what to do.
 */
export function createFindBuilderImage(options: FindBuilderImageOptions): (attempt: Attempt) => Promise<string> {
  const { docker, clock, image = publishedBuilderImage, fetch } = options
  const tag = createHash('sha256').update(image).digest('hex').slice(0, 12)
  const kept = `${fetchedRepository}:${tag}`
  const candidates = options.image === undefined ? [localBuilderImage, kept] : [kept]
  let failed: { readonly error: EngineError; readonly at: number } | undefined
  const fetchIt = async (attempt: Attempt): Promise<string> => {
    if (!fetch) throw new Error('no registry may be asked')
    attempt.output.line(`Fetching the builder ${image}.`)
    await tagImage(docker, await fetch(image, attempt), { repo: fetchedRepository, tag })
    return kept
  }
  return async (attempt) => {
    for (const name of candidates) if (await inspectImage(docker, name)) return name
    if (failed && clock.monotonic() - failed.at < retryMs) throw failed.error
    try {
      return await fetchIt(attempt)
    } catch (cause) {
      attempt.signal.throwIfAborted()
      const why = withoutFullStop(messageOf(cause))
      const advice = 'Make it available, or make one with "npm run images builder".'
      const text = `The image ${image} could not be fetched: ${why}. ${advice}`
      failed = { error: new EngineError('image-missing', text, { cause }), at: clock.monotonic() }
      throw failed.error
    }
  }
}
