import {
  EngineError,
  type ImageStore,
  type NamedEngine,
  type PublishedImage,
  type RegistryTarget,
} from '../engines/index.ts'
import type { Attempt } from '../lib/attempt.ts'
import type { Builder } from './builder.ts'
import { type RegistryAccount, readRegistryLogin } from './registry-login.ts'

export interface RegistryBuilderOptions {
  /** Builds the images and keeps them on its own engine. */
  readonly builder: Builder
  /** The engine of that builder. Images of other registries are fetched to it. */
  readonly images: NamedEngine<ImageStore>
  /** Pushes an image from there to a registry. Throws EngineError. */
  readonly push: (image: string, target: RegistryTarget, attempt: Attempt) => Promise<PublishedImage>
  /** Returns why images cannot be pushed there now. Undefined if they can. */
  readonly pushProblem: (target: RegistryTarget, signal: AbortSignal) => Promise<string | undefined>
  /** The registry from which the clusters' engines pull. Undefined: there is none. */
  readonly registry: RegistryAccount | undefined
}

/**
 * Creates a builder for clusters on other machines. It publishes the images of another builder in a
 * registry, by digest.
 */
export const createRegistryBuilder = ({
  builder,
  images,
  push,
  pushProblem,
  registry,
}: RegistryBuilderOptions): Builder => ({
  find: (recipe, signal) => builder.find(recipe, signal),
  has: (image, signal) => builder.has(image, signal),
  promote: (digest, recipe, signal) => builder.promote(digest, recipe, signal),
  build: (source, recipe, attempt) => builder.build(source, recipe, attempt),
  prune: (service, keep, signal) => builder.prune(service, keep, signal),
  images,
  publishProblem: async (signal) => {
    if (registry === undefined) return noRegistry
    const login = await readRegistryLogin(registry)
    return pushProblem({ repository: `${registry.repository}/${triedName}`, login }, signal)
  },
  publish: async ({ reference }, service, attempt) => {
    const { repository, login } = await readRegistryTarget(registry)
    const target = { repository: `${repository}/${service}`, login }
    return (await push(reference, target, attempt)).reference
  },
})

/** A repository beside those of services, to which nothing is pushed. */
const triedName = 'check'

/** The message of an installation whose clusters cannot get images. */
const noRegistry =
  'This installation has no registry from which a cluster can take images. Ask its operator to set ' +
  'QUAYSIDE_CLUSTER_REGISTRY.'

/** Returns the registry of the clusters. Throws EngineError if there is none. */
export async function readRegistryTarget(registry: RegistryAccount | undefined): Promise<RegistryTarget> {
  if (registry === undefined) throw new EngineError('refused', noRegistry)
  return { repository: registry.repository, login: await readRegistryLogin(registry) }
}
