import type { Secret } from '../lib/secret.ts'

/** Who enters a container registry. */
export interface RegistryLogin {
  readonly username: string
  readonly password: Secret
}

/** Where images are published. */
export interface RegistryTarget {
  /** `host/path`, without tag or digest. */
  readonly repository: string
  readonly login: RegistryLogin | undefined
}

/** An image as a registry has it. */
export interface PublishedImage {
  /** `host/name@sha256:…`. */
  readonly reference: string
  readonly digest: string
}

/** What a tag stood for when it was asked: from then on the tag means nothing. */
export interface PinnedImage {
  /** `host/name@sha256:…`; for an image that came from no registry, its id on the engine. */
  readonly reference: string
  /** The digest of the manifest, or the id: `sha256:…`. */
  readonly digest: string
  /** Whether the engine has it already. */
  readonly isThere: boolean
  /** Who named it: `engine` where the registry was not to be had and the engine's own image is used. */
  readonly namedBy: 'registry' | 'engine'
}
