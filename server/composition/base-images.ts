import { type BaseImages, createDockerBaseImages } from '../builders/index.ts'
import { isOpenTo, noteFetched } from '../disk/index.ts'
import { type DockerEngine, localEngine } from '../engines/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import type { Ground } from './ground.ts'

/**
 * Uses base images of builds that the engine has, or fetches them. Builds have no registry
 * credentials.
 */
export const createBaseImages = (
  { socketPath, database, instance }: Pick<Ground, 'database' | 'instance'> & { readonly socketPath: string },
  engine: Pick<DockerEngine, 'fetchBaseImage'>,
): BaseImages =>
  createDockerBaseImages({
    socketPath,
    namespace: instance,
    mayUse: (digests, organization) => isOpenTo(database, digests, organization),
    fetch: (image, attempt) =>
      engine.fetchBaseImage(image, (fetched) => noteFetched(database, localEngine, fetched, clock.now()), attempt),
  })
