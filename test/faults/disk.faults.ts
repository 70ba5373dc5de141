import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { statfs } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { contextOf, failureOf, limits, recipeOf, recording, tarOf } from '../../server/builders/builder.cases.ts'
import { engineForTests } from '../../server/builders/docker/engine-for-tests.ts'
import { createDockerBuilder, ensureBaseImage } from '../../server/builders/index.ts'
import { makeSmallImage, pushImage, removeImages, removeImagesOf } from '../../server/engines/docker/test-push.ts'
import { DockerEngine } from '../../server/engines/index.ts'
import { createAddressGuard } from '../../server/lib/address.ts'
import { silent } from '../../server/lib/attempt.ts'
import { systemClock } from '../../server/lib/clock.ts'
import { Secret } from '../../server/lib/secret.ts'
import { type PrivateEngine, startPrivateEngine, whyNoPrivateEngine } from '../support/private-engine.ts'
import { type Registry, startRegistry, whyNoRegistry } from '../support/registry.ts'
import { until } from '../support/until.ts'

const { socketPath, skip } = await engineForTests()
const alone = skip || (await whyNoPrivateEngine()) || false
const without = alone || (await whyNoRegistry()) || false
const mebibyte = 1024 * 1024

describe('a full disk during a build', {
  skip: skip || (await whyNoPrivateEngine()) || false,
}, () => {
  let small: PrivateEngine
  const junk = 'quayside-junk:2'
  before(async () => {
    small = await startPrivateEngine({ diskMiB: 300 })
    await makeSmallImage(small.socketPath, junk, 200 * mebibyte)
  })
  after(() => small?.close())

  test('fails the build, keeps nothing of it, and lets the next build succeed', async () => {
    const builder = createDockerBuilder({ socketPath: small.socketPath, floorBytes: 0 })
    const dockerfile = 'FROM scratch\nCOPY . /\nCMD ["/none"]\n'
    const build = (service: string, payload: Buffer) => {
      const recipe = recipeOf(service, dockerfile, { limits: { ...limits, timeoutSeconds: 100 } })
      const { attempt } = recording(AbortSignal.timeout(110_000))
      return builder.build(tarOf({ Dockerfile: dockerfile, payload }), recipe, attempt)
    }
    const large = randomBytes(90 * mebibyte)
    const error = await failureOf(build('large', large))
    assert.equal(error.reason, 'disk-full', error.message)
    assert.match(error.message, /The build failed because the disk of the builder is full\. Free space there/)
    const next = await build('next', randomBytes(mebibyte))
    assert.equal(await builder.has(next, AbortSignal.timeout(60_000)), true)
    await removeImages(small.socketPath, [junk])
    const image = await build('large', large)
    assert.equal(await builder.has(image, AbortSignal.timeout(60_000)), true)
  })
})

describe('an engine on which builds write too much', { skip: alone }, () => {
  let small: PrivateEngine
  before(async () => {
    small = await startPrivateEngine({ diskMiB: 400 })
    await ensureBaseImage({ socketPath: small.socketPath }, AbortSignal.timeout(60_000))
  })
  after(() => small?.close())

  const free = async () => {
    const { bsize, bavail } = await statfs(small.dataRoot)
    return bsize * bavail
  }
  const writing = (mebibytes: number, then = ''): string => {
    const program = `/* ${randomBytes(8).toString('hex')} */ const fs = require('fs'); const out = fs.openSync('/big', 'w'); const part = Buffer.alloc(1 << 20, 7);
      const write = (left) => { fs.writeSync(out, part); if (left > 1) setTimeout(write, 5, left - 1); else { fs.closeSync(out); ${then} } }; write(${mebibytes})`
    return `RUN ${JSON.stringify(['node', '-e', program.replace(/\n\s*/g, ' ')])}\n`
  }
  const build = (options: object, text: string) => {
    const builder = createDockerBuilder({ socketPath: small.socketPath, ...options })
    const recipe = recipeOf('writes', `FROM quayside/node:24\n${text}`, {
      commit: randomBytes(20).toString('hex'),
      limits: { ...limits, timeoutSeconds: 100 },
    })
    return builder.build(contextOf(recipe), recipe, recording(AbortSignal.timeout(110_000)).attempt)
  }
  /** The tolerance for freed space. */
  const slack = 4 * mebibyte
  const isFree = (bytes: number) =>
    until('the written space is freed', async () => (await free()) > bytes - slack, { limitMs: 20_000 })

  test('a build is ended before the disk is full, and its space is freed', async () => {
    const before = await free()
    const floorBytes = before - 60 * mebibyte
    assert.ok(floorBytes > 20 * mebibyte, `${before}`)
    let least = before
    const watching = setInterval(
      () =>
        void free().then((now) => {
          least = Math.min(least, now)
        }),
      50,
    )
    const error = await failureOf(build({ floorBytes }, writing(300)))
    clearInterval(watching)
    assert.equal(error.reason, 'disk-full', error.message)
    assert.match(error.message, /ended because less than \d+ MiB of the engine's disk is free.*QUAYSIDE_DISK_FLOOR/)
    assert.ok(least > 10 * mebibyte, `${least} bytes were left at the minimum`)
    await isFree(before)
    await assert.doesNotReject(build({ floorBytes }, writing(1)))
  })

  test('an image with too many layers fails its build and leaves nothing in the cache', async () => {
    const before = await free()
    const error = await failureOf(build({ floorBytes: 0 }, 'COPY Dockerfile /x\n'.repeat(150)))
    assert.equal(error.reason, 'size', error.message)
    assert.match(error.message, /more layers than the engine can stack/)
    await isFree(before)
  })

  test('an image that is too large fails its build and is removed, including its cache', async () => {
    const before = await free()
    const error = await failureOf(build({ maxImageBytes: 140 * mebibyte, floorBytes: 0 }, writing(60)))
    assert.equal(error.reason, 'size', error.message)
    assert.match(error.message, /takes \d+ MiB; the limit is 140 MiB \(QUAYSIDE_IMAGE_SIZE\)/)
    await isFree(before)
  })
})

describe('an engine with a full disk', { skip: without }, () => {
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

  test('reports why it cannot fetch an image and fetches it once there is space', async () => {
    const image = `${registry.host}/team/large:1`
    const login = { username: registry.username, password: new Secret(registry.password) }
    await makeSmallImage(socketPath, image, 40 * mebibyte)
    await pushImage(socketPath, image, login)
    await makeSmallImage(small.socketPath, junk, 85 * mebibyte)
    const guard = createAddressGuard({ allowedPrivateCidrs: ['127.0.0.1/32'] })
    const engine = new DockerEngine({ socketPath: small.socketPath, instance: 'test-full', clock: systemClock, guard })
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
