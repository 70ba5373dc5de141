import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startRegistry, whyNoRegistry } from '../../../test/support/registry.ts'
import { engineForTests } from '../../builders/docker/engine-for-tests.ts'
import { createAddressGuard } from '../../lib/address.ts'
import { silent } from '../../lib/attempt.ts'
import { systemClock } from '../../lib/clock.ts'
import { newId } from '../../lib/id.ts'
import { Secret } from '../../lib/secret.ts'
import { engineImagesCases } from '../engine.images.cases.ts'
import { createContainer, removeContainer } from './containers.ts'
import { DockerDaemon } from './daemon.ts'
import { DockerEngine } from './docker-engine.ts'
import { localName } from './local-name.ts'
import {
  changeImage,
  makeContainer,
  makeSmallImage,
  pullImage,
  pushImage,
  removeImages,
  removeImagesOf,
  tagImage,
} from './test-push.ts'

const { socketPath, skip } = await engineForTests()

const without = skip || (await whyNoRegistry())

engineImagesCases('docker', open, without)

test('an image with another name, or used by a container, is not removed', { skip: without }, async (t) => {
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
  await tagImage(socketPath, localName(named), image('mine'))
  const container = await makeContainer(socketPath, localName(used))
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

test('an image that Docker itself pulled, under an earlier version, is found and runs', {
  skip: without,
}, async (t) => {
  const { engine, login, image, push, close } = await open()
  t.after(close)
  const attempt = { signal: AbortSignal.timeout(60_000), output: silent }
  await push('pulled')
  const pinned = await engine.pinImage(image('pulled'), login, attempt)
  await pullImage(socketPath, pinned.reference, login)
  const { isThere } = await engine.pinImage(pinned.reference, undefined, attempt)
  assert.equal(isThere, true)
  const lines: string[] = []
  await engine.fetchImage(pinned.reference, undefined, {
    ...attempt,
    output: { line: (text) => void lines.push(text) },
  })
  assert.deepEqual(lines, [], 'nothing is fetched')
  const daemon = new DockerDaemon({ socketPath, clock: systemClock })
  const create = { name: `${newId()}-1`, spec: { Image: pinned.reference, Cmd: ['true'] }, output: silent }
  const container = await createContainer(daemon, create, attempt.signal)
  assert.equal(await engine.removeImage(pinned.reference, attempt.signal), false, 'a container has it')
  await removeContainer(daemon, container, attempt.signal)
  assert.equal(await engine.removeImage(pinned.reference, attempt.signal), true)
})

test('a new version fetches only its new layers', { skip: without }, async (t) => {
  const { engine, login, image, close } = await open()
  t.after(close)
  const attempt = (lines: string[]) => ({
    signal: AbortSignal.timeout(60_000),
    output: { line: (text: string) => void lines.push(text) },
  })
  await makeSmallImage(socketPath, image('one'), 3_000_000)
  await changeImage(socketPath, image('one'), image('two'), ['ENV VERSION=two'])
  for (const tag of ['one', 'two']) await pushImage(socketPath, image(tag), login)
  await removeImages(socketPath, [image('one'), image('two')])
  const fetched: string[] = []
  for (const tag of ['one', 'two']) {
    const { reference } = await engine.pinImage(image(tag), login, attempt([]))
    await engine.fetchImage(reference, login, attempt(fetched))
  }
  assert.match(fetched[0] ?? '', /^The image is there: 1 layers, 3\.0 MB fetched\.$/)
  assert.match(fetched[1] ?? '', /^The image is there: \d layers, 0\.0 MB fetched\.$/)
})

async function open() {
  const registry = await startRegistry()
  const guard = createAddressGuard({ allowedPrivateCidrs: ['127.0.0.1/32'] })
  const engine = new DockerEngine({ socketPath, instance: `test-${newId().slice(-8)}`, clock: systemClock, guard })
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
