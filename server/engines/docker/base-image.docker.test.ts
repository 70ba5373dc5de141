import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { after, before, describe, it } from 'node:test'
import { pack } from 'tar-stream'
import { followProgress } from '../../builders/build-progress.ts'
import { readBuildEvents } from '../../builders/docker/build-events.ts'
import { openBuildSession } from '../../builders/docker/build-session.ts'
import { engineForTests } from '../../builders/docker/engine-for-tests.ts'
import { createAddressGuard } from '../../lib/address.ts'
import { silent } from '../../lib/attempt.ts'
import { systemClock } from '../../lib/clock.ts'
import { newId } from '../../lib/id.ts'
import { Secret } from '../../lib/secret.ts'
import { SocketHttp } from '../../lib/socket-http.ts'
import type { PinnedImage } from '../engine.ts'
import { DockerEngine } from './docker-engine.ts'
import { makeImage, startTestRegistry, type TestImage, type TestRegistry, tarOf } from './registry/test-registry.ts'
import { makeSmallImage, removeImages, removeImagesOf } from './test-push.ts'

const { socketPath, skip } = await engineForTests()

describe('base images of builds', { skip }, () => {
  const guard = createAddressGuard({ allowedPrivateCidrs: ['127.0.0.1/32'] })
  const engine = new DockerEngine({ socketPath, instance: `test-${newId().slice(-8)}`, clock: systemClock, guard })
  const docker = new SocketHttp({ socketPath })
  const attempt = { signal: AbortSignal.timeout(120_000), output: silent }
  const built = `quayside-test-base:${process.pid}`
  const noted: Pick<PinnedImage, 'reference' | 'isThere'>[] = []
  const note = async (image: (typeof noted)[number]): Promise<void> => void noted.push(image)
  let registry: TestRegistry
  before(async () => {
    registry = await startTestRegistry()
  })
  after(async () => {
    await removeImages(socketPath, [built])
    await removeImagesOf(socketPath, registry.host)
    await registry.close()
  })
  const put = async (tag: string): Promise<TestImage> => {
    const image = await makeImage({ layers: [await tarOf(tag)], config: { created: new Date().toISOString() } })
    registry.put(image, tag)
    registry.asked.length = 0
    noted.length = 0
    return image
  }

  /** Builds the Dockerfile with BuildKit itself; returns its error. */
  async function build(from: string): Promise<string | undefined> {
    const tar = pack()
    tar.entry({ name: 'Dockerfile' }, `FROM ${from}\nCOPY Dockerfile /Dockerfile-${newId()}\n`)
    tar.finalize()
    const session = await openBuildSession(docker, {}, attempt.signal)
    try {
      const events = await docker.stream({
        method: 'POST',
        path: '/build',
        query: { version: 2, session: session.id, t: built },
        file: Readable.from(tar, { objectMode: false }),
        signal: attempt.signal,
      })
      return (await readBuildEvents(events, followProgress(silent))).error
    } finally {
      session.close()
    }
  }

  it('are fetched once, recorded first, and then used without a registry', async () => {
    const image = await put('open')
    const reference = `${registry.host}/team/web@${image.digest}`
    const name = await engine.fetchBaseImage(`${registry.host}/team/web:open`, note, attempt)
    assert.deepEqual(
      noted.map((one) => [one.reference, one.isThere]),
      [[reference, false]],
    )
    const asked = registry.asked.length
    assert.equal(await build(name), undefined)
    assert.equal(registry.asked.length, asked, 'BuildKit has the image')
    assert.equal(await engine.fetchBaseImage(`${registry.host}/team/web:open`, note, attempt), name)
    assert.equal(registry.asked.slice(asked).length, 1, 'the tag is asked again, and nothing else')
  })

  it('created on the engine need no registry', async () => {
    const name = `${registry.host}/team/made:1`
    await makeSmallImage(socketPath, name)
    registry.asked.length = 0
    assert.equal(await build(name), undefined)
    assert.deepEqual(registry.asked, [])
  })

  it('that were removed are not requested from any registry', async () => {
    const image = await put('gone')
    const name = await engine.fetchBaseImage(`${registry.host}/team/web:gone`, note, attempt)
    assert.equal(await engine.removeImage(`${registry.host}/team/web@${image.digest}`, attempt.signal), true)
    registry.asked.length = 0
    assert.match((await build(name)) ?? '', /fetched\.quayside\.invalid/)
    assert.deepEqual(registry.asked, [])
  })

  it('fetched with a password are not available without it, by tag or by digest', async () => {
    const image = await put('private')
    const right = `Basic ${Buffer.from('robot:SECRET').toString('base64')}`
    registry.misbehave = (request, response) => {
      if (request.headers.authorization === right) return undefined
      response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
      return true
    }
    const reference = `${registry.host}/team/web@${image.digest}`
    await engine.fetchImage(reference, { username: 'robot', password: new Secret('SECRET') }, attempt)
    for (const name of [`${registry.host}/team/web:private`, reference]) {
      await assert.rejects(engine.fetchBaseImage(name, note, attempt), { message: /does not give access/ }, name)
    }
    assert.deepEqual(noted, [])
  })
})
