import { after, before } from 'node:test'
import { ports } from '../../../test/kubernetes/cluster/settings.ts'
import { loopbackGuard } from '../../../test/kubernetes/support/access.ts'
import { silent } from '../../lib/attempt.ts'
import { systemClock as clock } from '../../lib/clock.ts'
import { newId } from '../../lib/id.ts'
import { DockerEngine } from '../docker/docker-engine.ts'
import { importTestImage, removeTestImage } from '../docker/test-image.ts'

const socketPath = '/var/run/docker.sock'

/**
 * Publishes the image of the Docker tests in the registry of the test cluster, for all tests of a
 * file.
 */
export function usePublishedImage(): { reference(): string } {
  let reference: string | undefined
  before(async () => {
    const image = `quayside-engine-test/node:${newId().slice(-8)}`
    await importTestImage(socketPath, image)
    const engine = new DockerEngine({ socketPath, instance: 'test-publisher', clock, guard: loopbackGuard })
    const target = { repository: `localhost:${ports.registry}/quayside-engine-test/node`, login: undefined }
    const attempt = { signal: AbortSignal.timeout(120_000), output: silent }
    reference = (await engine.pushImage(image, target, attempt)).reference
    after(() => removeTestImage(socketPath, image))
  })
  return {
    reference: () => {
      if (reference === undefined) throw new Error('the image is not published yet')
      return reference
    },
  }
}
