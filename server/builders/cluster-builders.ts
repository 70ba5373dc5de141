import { type BuilderPodOptions, EngineError, type ImageMirror, openBuilder } from '../engines/index.ts'
import type { AddressGuard } from '../lib/address.ts'
import type { Clock } from '../lib/clock.ts'
import { BuildError, type Builder } from './builder.ts'
import { createBuildKitBuilder, storedTag } from './buildkit/buildkit-builder.ts'
import { refusingBuilder } from './no-builder.ts'
import { type RegistryAccount, readPullConfig } from './registry-login.ts'

export interface ClusterBuilderOptions {
  readonly clock: Clock
  readonly guard: Pick<AddressGuard, 'check'>
  /** Has the registry of the clusters. */
  readonly mirror: ImageMirror
  readonly registry: RegistryAccount | undefined
  /** Undefined: nothing is built. */
  readonly settings: BuilderPodOptions['settings'] | undefined
}

/** A connected cluster. */
export interface BuildingCluster extends Pick<BuilderPodOptions, 'kube' | 'instance'> {
  readonly id: string
}

/** The builders of an installation without a Docker Engine. */
export interface ClusterBuilders {
  /** Why nothing is built from source code. Undefined: it is. */
  readonly cannotBuild: string | undefined
  /** The builder of a cluster, without publishing. */
  builderOf(cluster: BuildingCluster): Builder
  /** Publishes images of that builder, and others. */
  pushOf(cluster: Pick<BuildingCluster, 'id'>): ImageMirror['publish']
}

const cannotBuild =
  'this installation builds no images, because it has no Docker Engine and no builder in its clusters. Ask its ' +
  'operator to set QUAYSIDE_CLUSTER_BUILDER_IMAGE, or build the image elsewhere, push it to a registry, and deploy ' +
  'it as a container.'

/** Builds in a pod of each cluster if the operator has named its image, and nowhere otherwise. */
export function createClusterBuilders({
  clock,
  guard,
  mirror,
  registry,
  settings,
}: ClusterBuilderOptions): ClusterBuilders {
  if (settings === undefined) {
    return {
      cannotBuild,
      builderOf: () => refusingBuilder(`Nothing is built: ${cannotBuild}`),
      pushOf: () => mirror.publish,
    }
  }
  const pullConfig = () => readPullConfig(registry)
  const resultsOf = (id: string) => mirror.resultsOf(`built-${id}`)
  return {
    cannotBuild: undefined,
    builderOf: ({ id, kube, instance }) =>
      createBuildKitBuilder({
        clock,
        guard,
        results: resultsOf(id),
        openDaemon: (attempt) =>
          explaining(() => openBuilder({ kube, instance, clock, settings, pullConfig }, attempt)),
        bases: {
          open: mirror.openPublic,
          // The registry has images of all organizations, and may return them without a password.
          isOwn: (image) => registry !== undefined && isBelow(image, registry.repository),
        },
      }),
    pushOf: ({ id }) => {
      const results = resultsOf(id)
      return (image, target, attempt) => {
        const tag = storedTag(image)
        return tag === undefined ? mirror.publish(image, target, attempt) : results.publish(tag, target, attempt)
      }
    },
  }
}

/**
 * Whether an image is below a repository. The case of a host and its usual port do not matter.
 * Pure.
 */
export const isBelow = (image: string, repository: string): boolean =>
  plainPlace(image).startsWith(`${plainPlace(repository)}/`)

const plainPlace = (name: string): string => name.toLowerCase().replace(/^([^/]*?):(?:80|443)\//, '$1/')

/**
 * Names the builder in errors of its cluster. Deployments wait for a cluster that is away, and fail
 * at once for every other reason.
 */
export async function explaining<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    const reason = error.reason === 'unreachable' ? 'unreachable' : 'failed'
    throw new BuildError(reason, `The builder of the cluster cannot be used: ${error.message}.`, { cause: error })
  }
}
