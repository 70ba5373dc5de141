import { type BaseImages, createDockerBaseImages, type DockerBaseImagesOptions } from '../builders/index.ts'
import { isOpenTo, noteFetched } from '../disk/index.ts'
import { type DockerEngine, localEngine } from '../engines/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import type { Ground } from './ground.ts'

interface Images extends Pick<Ground, 'database' | 'instance'> {
  readonly socketPath: string
}

type Fetch = NonNullable<DockerBaseImagesOptions['fetch']>

/** Fetches an image without credentials, and returns its name on the engine. */
export const fetchPublic =
  ({ database }: Pick<Images, 'database'>, engine: Pick<DockerEngine, 'fetchBaseImage'>): Fetch =>
  (image, attempt) =>
    engine.fetchBaseImage(image, (fetched) => noteFetched(database, localEngine, fetched, clock.now()), attempt)

/**
 * Uses base images of builds that the engine has, or fetches them. Builds have no registry
 * credentials.
 */
export const createBaseImages = (
  { socketPath, database, instance }: Images,
  engine: Pick<DockerEngine, 'fetchBaseImage'>,
): BaseImages =>
  createDockerBaseImages({
    socketPath,
    namespace: instance,
    mayUse: (digests, organization) => isOpenTo(database, digests, organization),
    fetch: fetchPublic({ database }, engine),
  })
