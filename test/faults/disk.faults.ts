import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { failureOf, limits, recipeOf, recording, tarOf } from '../../server/builders/builder.cases.ts'
import { engineForTests } from '../../server/builders/docker/engine-for-tests.ts'
import { createDockerBuilder } from '../../server/builders/index.ts'
import { makeSmallImage, pushImage, removeImages, removeImagesOf } from '../../server/engines/docker/test-push.ts'
import { DockerEngine } from '../../server/engines/index.ts'
import { silent } from '../../server/lib/attempt.ts'
import { systemClock } from '../../server/lib/clock.ts'
import { Secret } from '../../server/lib/secret.ts'
import { type PrivateEngine, startPrivateEngine, whyNoPrivateEngine } from '../support/private-engine.ts'
import { type Registry, startRegistry, whyNoRegistry } from '../support/registry.ts'

const { socketPath, skip } = await engineForTests()
const alone = skip || (await whyNoPrivateEngine()) || false
const without = alone || (await whyNoRegistry()) || false
const mebibyte = 1024 * 1024

describe('an engine whose disk is full when something is built', {
  skip: skip || (await whyNoPrivateEngine()) || false,
}, () => {
  let small: PrivateEngine
  const junk = 'quayside-junk:2'
  before(async () => {
    small = await startPrivateEngine({ diskMiB: 300 })
    await makeSmallImage(small.socketPath, junk, 200 * mebibyte)
  })
  after(() => small?.close())

  test('says so, keeps nothing of the build, and builds the next one; the large one fits once there is room', async () => {
    const builder = createDockerBuilder({ socketPath: small.socketPath })
    const dockerfile = 'FROM scratch\nCOPY . /\nCMD ["/none"]\n'
    const build = (service: string, payload: Buffer) => {
      const recipe = recipeOf(service, dockerfile, { limits: { ...limits, timeoutSeconds: 100 } })
      const { attempt } = recording(AbortSignal.timeout(110_000))
      return builder.build(tarOf({ Dockerfile: dockerfile, payload }), recipe, attempt)
    }
    const large = randomBytes(90 * mebibyte)
    const error = await failureOf(build('large', large))
    assert.equal(error.reason, 'disk-full', error.message)
    assert.match(error.message, /The build failed because the disk of the engine is full\. Free space there/)
    const next = await build('next', randomBytes(mebibyte))
    assert.equal(await builder.has(next, AbortSignal.timeout(60_000)), true)
    await removeImages(small.socketPath, [junk])
    const image = await build('large', large)
    assert.equal(await builder.has(image, AbortSignal.timeout(60_000)), true)
  })
})

describe('an engine whose disk is full', { skip: without }, () => {
  let small: PrivateEngine
  let registry: Registry
  const junk = 'quayside-junk:1'
  const attempt = () => ({ signal: AbortSignal.timeout(100_000), output: silent })

  before(async () => {
    registry = await startRegistry()
    small = await startPrivateEngine({ diskMiB: 120 })
  })
  after(async () => {
    await small?.close()
    if (registry) {
      await removeImagesOf(socketPath, registry.host)
      await registry.close()
    }
  })

  test('fetches no image, says why, and fetches it when there is room', async () => {
    const image = `${registry.host}/team/large:1`
    const login = { username: registry.username, password: new Secret(registry.password) }
    await makeSmallImage(socketPath, image, 40 * mebibyte)
    await pushImage(socketPath, image, login)
    await makeSmallImage(small.socketPath, junk, 85 * mebibyte)
    const engine = new DockerEngine({ socketPath: small.socketPath, instance: 'test-full', clock: systemClock })
    const { reference } = await engine.pinImage(image, login, attempt())
    await assert.rejects(engine.fetchImage(reference, login, attempt()), {
      reason: 'disk-full',
      message: /cannot be stored: the disk of the engine is full.*Free space there/,
    })
    await removeImages(small.socketPath, [junk])
    await engine.fetchImage(reference, login, attempt())
    assert.equal(await engine.removeImage(reference, AbortSignal.timeout(10_000)), true)
  })
})
