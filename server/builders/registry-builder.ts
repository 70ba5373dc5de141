import type { ImageStore, NamedEngine, PublishedImage, RegistryLogin, RegistryTarget } from '../engines/index.ts'
import type { Attempt } from '../lib/attempt.ts'
import type { Builder } from './builder.ts'

export interface RegistryBuilderOptions {
  /** Builds the images and keeps them on its own engine. */
  readonly builder: Builder
  /** The engine of that builder. Images of other registries are fetched to it. */
  readonly images: NamedEngine<ImageStore>
  /** Pushes an image from there to a registry. Throws EngineError. */
  readonly push: (image: string, target: RegistryTarget, attempt: Attempt) => Promise<PublishedImage>
  /**
   * `host/path` in a registry from which the clusters' engines pull. Each service has a repository
   * below it.
   */
  readonly repository: string
  readonly login?: RegistryLogin
}

/**
 * Creates a builder for clusters on other machines. It publishes the images of another builder in a
 * registry, by digest.
 */
export const createRegistryBuilder = ({
  builder,
  images,
  push,
  repository,
  login,
}: RegistryBuilderOptions): Builder => ({
  find: (recipe, signal) => builder.find(recipe, signal),
  has: (image, signal) => builder.has(image, signal),
  promote: (digest, recipe, signal) => builder.promote(digest, recipe, signal),
  build: (source, recipe, attempt) => builder.build(source, recipe, attempt),
  prune: (service, keep, signal) => builder.prune(service, keep, signal),
  images,
  publish: async ({ reference }, service, attempt) =>
    (await push(reference, { repository: `${repository}/${service}`, login }, attempt)).reference,
})
