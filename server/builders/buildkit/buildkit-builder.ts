import type { Duplex } from 'node:stream'
import type { BuildResults } from '../../engines/index.ts'
import type { AddressGuard } from '../../lib/address.ts'
import { type Attempt, silent } from '../../lib/attempt.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { repositoryOf } from '../build-order.ts'
import type { Builder } from '../builder.ts'
import { type BuildBackend, createBuilder } from '../recipe-builder.ts'
import { type BaseImageOptions, createBuildKitBaseImages } from './buildkit-base-images.ts'
import { buildOnDaemon } from './run-solve.ts'

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
      const receive = (receiving: Attempt) => results.receive(receiving)
      const id = await buildOnDaemon({ openDaemon, receive, bases, tag: stored(order.tag) }, source, order, attempt)
      return { reference: order.tag, digest: id }
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
