import { startRegistry, whyNoRegistry } from '../../../test/support/registry.ts'
import { engineForTests } from '../../builders/docker/engine-for-tests.ts'
import { systemClock } from '../../lib/clock.ts'
import { newId } from '../../lib/id.ts'
import { Secret } from '../../lib/secret.ts'
import { engineImagesCases } from '../engine.images.cases.ts'
import { DockerEngine } from './docker-engine.ts'
import { makeSmallImage, pushImage, removeImages, removeImagesOf } from './test-push.ts'

const { socketPath, skip } = await engineForTests()

engineImagesCases('docker', open, skip || (await whyNoRegistry()))

async function open() {
  const registry = await startRegistry()
  const engine = new DockerEngine({ socketPath, instance: `test-${newId().slice(-8)}`, clock: systemClock })
  const login = { username: registry.username, password: new Secret(registry.password) }
  const image = (tag: string): string => `${registry.host}/team/small:${tag}`
  return {
    engine,
    login,
    image,
    push: async (tag: string) => {
      await makeSmallImage(socketPath, image(tag))
      await pushImage(socketPath, image(tag), login)
      await removeImages(socketPath, [image(tag)])
    },
    make: (tag: string) => makeSmallImage(socketPath, image(tag)),
    goAway: registry.stop,
    comeBack: registry.start,
    close: async () => {
      await removeImagesOf(socketPath, registry.host)
      await registry.close()
    },
  }
}
