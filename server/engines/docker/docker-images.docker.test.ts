import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startRegistry, whyNoRegistry } from '../../../test/support/registry.ts'
import { engineForTests } from '../../builders/docker/engine-for-tests.ts'
import { silent } from '../../lib/attempt.ts'
import { systemClock } from '../../lib/clock.ts'
import { newId } from '../../lib/id.ts'
import { Secret } from '../../lib/secret.ts'
import { engineImagesCases } from '../engine.images.cases.ts'
import { removeContainer } from './containers.ts'
import { DockerDaemon } from './daemon.ts'
import { DockerEngine } from './docker-engine.ts'
import { makeContainer, makeSmallImage, pushImage, removeImages, removeImagesOf, tagImage } from './test-push.ts'

const { socketPath, skip } = await engineForTests()

const without = skip || (await whyNoRegistry())

engineImagesCases('docker', open, without)

test('an image that somebody else named, or that a container has, is not removed', { skip: without }, async (t) => {
  const { engine, login, image, push, close } = await open()
  t.after(close)
  const signal = AbortSignal.timeout(60_000)
  const attempt = { signal, output: silent }
  const fetch = async (tag: string): Promise<string> => {
    await push(tag)
    const { reference } = await engine.pinImage(image(tag), login, attempt)
    await engine.fetchImage(reference, login, attempt)
    return reference
  }
  const [named, used] = [await fetch('named'), await fetch('used')]
  await tagImage(socketPath, named, image('mine'))
  const container = await makeContainer(socketPath, used)
  assert.equal(await engine.removeImage(named, signal), false)
  assert.equal(await engine.removeImage(used, signal), false)
  for (const reference of [named, used]) {
    assert.equal((await engine.pinImage(reference, undefined, attempt)).isThere, true)
  }
  await removeContainer(new DockerDaemon({ socketPath, clock: systemClock }), container, signal)
  await removeImages(socketPath, [image('mine')])
  for (const reference of [named, used]) assert.equal(await engine.removeImage(reference, signal), true)
  await assert.rejects(engine.removeImage('postgres:15', signal), { reason: 'refused' })
})

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
