import type { BuildOrder } from '../build-order.ts'
import { baseStore } from './content-service.ts'
import { contextAddress } from './context-service.ts'

/** A base image of a build. */
export interface BaseReference {
  /** Its name in the written Dockerfile. */
  readonly reference: string
  readonly digest: string
}

export interface SolveNames {
  readonly session: string
  readonly reference: string
  readonly bases: readonly BaseReference[]
  /** Whether the layers of the result are not compressed, as a Docker Engine stores them. */
  readonly isUnpacked?: boolean
}

/**
 * Pure: returns the request that begins a build. Its context, base images and result go through the
 * session, so BuildKit contacts no registry. Entitlements stay off.
 */
export function solveRequest(
  { recipe, labels, buildArguments }: BuildOrder,
  { session, reference, bases, isUnpacked = false }: SolveNames,
) {
  // BuildKit shares cache mounts by id alone. The namespace separates the services.
  const given = { ...buildArguments, BUILDKIT_CACHE_MOUNT_NS: recipe.service }
  return {
    Ref: reference,
    Session: session,
    Frontend: 'dockerfile.v0',
    FrontendAttrs: {
      context: contextAddress(session),
      filename: recipe.dockerfile,
      ...(recipe.targetStage ? { target: recipe.targetStage } : {}),
      ...(recipe.ignoresCache ? { 'no-cache': '' } : {}),
      ...prefixed('label:', labels),
      ...prefixed('build-arg:', given),
      ...Object.fromEntries(
        bases.map((base) => [`context:${base.reference}`, `oci-layout://${baseStore}@${base.digest}`]),
      ),
    },
    Internal: true,
    Exporters: [{ Type: 'oci', Attrs: { tar: 'false', 'oci-mediatypes': 'true', ...(isUnpacked && unpacked) } }],
  }
}

const unpacked = { compression: 'uncompressed', 'force-compression': 'true' }

const prefixed = (prefix: string, values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`${prefix}${name}`, value]))

/** The digest of the image's manifest in the answer to such a request. */
export const digestKey = 'containerimage.digest'
