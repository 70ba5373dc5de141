import type { Secret } from '../lib/secret.ts'

/** The credentials for a container registry. */
export interface RegistryLogin {
  readonly username: string
  readonly password: Secret
}

/** The repository to which images are published. */
export interface RegistryTarget {
  /** `host/path`, without tag or digest. */
  readonly repository: string
  readonly login: RegistryLogin | undefined
}

/** An image in a registry. */
export interface PublishedImage {
  /** `host/name@sha256:…`. */
  readonly reference: string
  readonly digest: string
}

/** The image that a tag named when it was resolved. Later moves of the tag do not matter. */
export interface PinnedImage {
  /** `host/name@sha256:…`; for an image that is in no registry, its id on the engine. */
  readonly reference: string
  /** The digest of the manifest, or the id: `sha256:…`. */
  readonly digest: string
  /** Whether the engine already has it. */
  readonly isThere: boolean
  /**
   * What resolved the tag: `engine` if the registry was unavailable and the engine's own image is
   * used.
   */
  readonly namedBy: 'registry' | 'engine'
}
