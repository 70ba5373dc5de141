import type { Readable } from 'node:stream'
import type { ImageStore, NamedEngine } from '../engines/index.ts'
import type { Attempt } from '../lib/attempt.ts'
import type { Secret } from '../lib/secret.ts'
import type { IgnoreFile } from './ignore-file.ts'

/**
 * Makes an image from a source tree. The same recipe gives the same tag, which is looked up before
 * anything is built.
 */
export interface Builder {
  /** The image of this recipe when it is there already. */
  find(recipe: BuildRecipe, signal: AbortSignal): Promise<Image | undefined>
  /** Whether an image that was built is there still, with the same content. */
  has(image: Image, signal: AbortSignal): Promise<boolean>
  /**
   * Gives an image that was built by the same recipe for another service to the recipe's own, under
   * a tag of its own: neither loses it by what happens to the other. Undefined where the image is
   * gone, or of another recipe.
   */
  promote(digest: string, recipe: BuildRecipe, signal: AbortSignal): Promise<Promoted | undefined>
  /**
   * Builds; lines go to the attempt's output while it runs, aborting ends the build. Throws
   * BuildError.
   */
  build(source: () => Promise<Readable>, recipe: BuildRecipe, attempt: Attempt): Promise<Image>
  /**
   * Makes an image available to the engine of the cluster, and returns the reference by which that
   * engine gets it: its own where both share images, else a digest in a registry. May be repeated.
   */
  publish(image: Image, service: string, attempt: Attempt): Promise<string>
  /**
   * The engine that images of registries are fetched to before they are published; undefined: that
   * of the cluster.
   */
  readonly images?: NamedEngine<ImageStore>
  /** Removes the service's images except those of the given references. */
  prune(service: string, keep: readonly string[], signal: AbortSignal): Promise<void>
}

/**
 * Everything that the image depends on. `source()` gives the context (the tree under root_path) as
 * a tar stream.
 */
export interface BuildRecipe {
  readonly service: string
  /**
   * Whose build it is: images that came to the engine by the password of another organization are
   * not used. No part of what the image depends on.
   */
  readonly organization?: string
  /** Full commit id. */
  readonly commit: string
  /** Relative POSIX path of the context inside the repository; '' is the top. */
  readonly rootPath: string
  /** Relative to the context. */
  readonly dockerfile: string
  readonly targetStage?: string
  /**
   * `dockerfileText` is not of the repository: it takes the place of whatever stands there under
   * `dockerfile`.
   */
  readonly hasOwnDockerfile?: boolean
  /**
   * Text of the Dockerfile as committed: tells which ARGs are declared and which frontend is asked
   * for.
   */
  readonly dockerfileText: string
  /** Names what is left out of the context. */
  readonly ignoreFile?: IgnoreFile
  /**
   * Non-secret variables; only those that the Dockerfile declares as ARG become build arguments.
   */
  readonly variables: Readonly<Record<string, string>>
  readonly limits: BuildLimits
  /**
   * Each step runs, whatever the engine remembers of earlier builds. Its image is another one than
   * that of the same recipe with a cache.
   */
  readonly ignoresCache?: boolean
  /**
   * For steps that mount them by name (`RUN --mount=type=secret,id=NAME`), and for nothing else.
   */
  readonly secrets?: Readonly<Record<string, Secret>>
  /** A keyed hash of their names and values: other secrets, another image. */
  readonly secretsHash?: string
}

export interface BuildLimits {
  readonly cpuMilli: number
  readonly memoryMiB: number
  readonly timeoutSeconds: number
  readonly maxLogBytes: number
}

export interface Image {
  /** Immutable reference for the engine: the tag that only this recipe has. */
  readonly reference: string
  readonly digest: string
}

/** An image that was there, and when it was built. */
export interface Promoted extends Image {
  readonly builtAt: Date
}

/** Brings the base images of builds to the engine. */
export interface BaseImages {
  /**
   * Makes sure that the image is on the engine. `organization` is whose build it is for; undefined:
   * nobody's, and only what is open to all is used. Throws BuildError.
   */
  bring(image: string, organization: string | undefined, attempt: Attempt): Promise<BroughtImage>
}

export interface BroughtImage {
  /** Immutable and known to this engine alone: it cannot name another image. */
  readonly reference: string
  /** The instructions of its ONBUILD. */
  readonly onBuild: readonly string[]
  /** Called when the build has ended: the reference may go. */
  release?(): Promise<void>
}

/**
 * A build that failed because of what it was given. `message` says what happened and what to do.
 */
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
