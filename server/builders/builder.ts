import type { Readable } from 'node:stream'
import type { ImageStore, NamedEngine } from '../engines/index.ts'
import type { Attempt } from '../lib/attempt.ts'
import type { Secret } from '../lib/secret.ts'
import type { IgnoreFile } from './ignore-file.ts'

/**
 * Builds images from source trees. The same recipe gives the same tag, and an image that already
 * has the tag is reused.
 */
export interface Builder {
  /** Returns the image of this recipe if it already exists. */
  find(recipe: BuildRecipe, signal: AbortSignal): Promise<Image | undefined>
  /** Whether an image still exists with the same content. */
  has(image: Image, signal: AbortSignal): Promise<boolean>
  /**
   * Tags an image that another service built from the same recipe for this recipe's service.
   * Pruning either service leaves the other's image alone. Returns undefined if the image is gone
   * or has another recipe.
   */
  promote(digest: string, recipe: BuildRecipe, signal: AbortSignal): Promise<Promoted | undefined>
  /**
   * Builds the image. Lines go to the attempt's output while it runs; aborting ends the build.
   * Throws BuildError.
   */
  build(source: () => Promise<Readable>, recipe: BuildRecipe, attempt: Attempt): Promise<Image>
  /**
   * Makes an image available to the cluster's engine and returns the reference for that engine. The
   * reference is the image's own if both share images, and a digest in a registry otherwise. May be
   * repeated.
   */
  publish(image: Image, service: string, attempt: Attempt): Promise<string>
  /**
   * Returns why nothing can be published now, with what to do, or undefined if it can. Absent if
   * nothing needs to be published.
   */
  readonly publishProblem?: (signal: AbortSignal) => Promise<string | undefined>
  /**
   * The engine to which registry images are fetched before they are published. If undefined, the
   * cluster's own engine.
   */
  readonly images?: NamedEngine<ImageStore>
  /** Removes the service's images except the given references. */
  prune(service: string, keep: readonly string[], signal: AbortSignal): Promise<void>
}

/**
 * Everything that the image depends on. `source()` returns the context, the tree under root_path,
 * as a tar stream.
 */
export interface BuildRecipe {
  readonly service: string
  /**
   * The owner of the build. Images that were fetched with another organization's password are not
   * used. The image does not depend on it.
   */
  readonly organization?: string
  /** Full commit id. */
  readonly commit: string
  /** Relative POSIX path of the context inside the repository; '' is the repository's root. */
  readonly rootPath: string
  /** Relative to the context. */
  readonly dockerfile: string
  readonly targetStage?: string
  /**
   * Whether `dockerfileText` comes from the settings. It replaces any file of the repository at
   * `dockerfile`.
   */
  readonly hasOwnDockerfile?: boolean
  /** Text of the Dockerfile. It shows the declared ARGs and the requested frontend. */
  readonly dockerfileText: string
  /** Names the files that are left out of the context. */
  readonly ignoreFile?: IgnoreFile
  /**
   * Non-secret variables; only those that the Dockerfile declares as ARG become build arguments.
   */
  readonly variables: Readonly<Record<string, string>>
  readonly limits: BuildLimits
  /**
   * Runs every step even if the engine has it cached. The image differs from that of the same
   * recipe built with the cache.
   */
  readonly ignoresCache?: boolean
  /** Secrets for steps that mount them by name (`RUN --mount=type=secret,id=NAME`) only. */
  readonly secrets?: Readonly<Record<string, Secret>>
  /** A keyed hash of the secrets' names and values, so other secrets give another image. */
  readonly secretsHash?: string
}

export interface BuildLimits {
  readonly cpuMilli: number
  readonly memoryMiB: number
  readonly timeoutSeconds: number
  readonly maxLogBytes: number
}

export interface Image {
  /** Immutable reference for the engine: a tag that only this recipe has. */
  readonly reference: string
  readonly digest: string
}

/** An existing image, and when it was built. */
export interface Promoted extends Image {
  readonly builtAt: Date
}

/** Brings the base images of builds to the engine. */
export interface BaseImages {
  /**
   * Makes sure that the image is on the engine. `organization` owns the build; if undefined, only
   * public images are used. Throws BuildError.
   */
  bring(image: string, organization: string | undefined, attempt: Attempt): Promise<BroughtImage>
}

export interface BroughtImage {
  /** An immutable name that only this engine knows. It cannot name another image. */
  readonly reference: string
  /** The image's ONBUILD instructions. */
  readonly onBuild: readonly string[]
  /** Releases the reference when the build has ended. */
  release?(): Promise<void>
}

/** A build that failed. `message` says what happened and what to do. */
export class BuildError extends Error {
  readonly reason:
    | 'dockerfile'
    | 'failed'
    | 'timeout'
    | 'limits'
    | 'size'
    | 'disk-full'
    | 'frontend'
    | 'secrets'
    | 'unreachable'

  constructor(reason: BuildError['reason'], message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'BuildError'
    this.reason = reason
  }
}
