import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { type Registry, startRegistry, whyNoRegistry } from '../../../test/support/registry.ts'
import { type RegistryProxy, startRegistryProxy } from '../../../test/support/registry-proxy.ts'
import { createAddressGuard } from '../../lib/address.ts'
import { systemClock as clock } from '../../lib/clock.ts'
import { newId } from '../../lib/id.ts'
import { Secret } from '../../lib/secret.ts'
import {
  makeImage,
  startTestRegistry,
  type TestImage,
  type TestRegistry,
  tarOf,
} from '../docker/registry/test-registry.ts'
import { EngineError } from '../engine-error.ts'
import { createImageMirror, type ImageMirror } from './image-mirror.ts'

const mebibyte = 1024 ** 2

describe('images are copied from registry to registry', { skip: await whyNoRegistry() }, () => {
  const lines: string[] = []
  const attempt = () => ({
    signal: AbortSignal.timeout(60_000),
    output: { line: (text: string) => void lines.push(text) },
  })
  let source: TestRegistry
  let target: Registry
  /** In front of the target, and records what is asked. */
  let proxy: RegistryProxy
  let directory: string
  let mirror: ImageMirror

  before(async () => {
    source = await startTestRegistry()
    target = await startRegistry()
    proxy = await startRegistryProxy(target)
    directory = await mkdtemp(join(tmpdir(), 'quayside-mirror-'))
    mirror = createImageMirror({
      clock,
      guard: createAddressGuard({ allowedPrivateCidrs: ['127.0.0.0/8'] }),
      maxImageBytes: 8 * mebibyte,
      spoolDirectory: directory,
      insecureRegistries: [],
      target: async () => ({ repository: `${proxy.host}/platform`, login: login() }),
    })
  })
  after(async () => {
    await proxy.close()
    await target.close()
    await source.close()
    await rm(directory, { recursive: true, force: true })
  })
  beforeEach(() => {
    lines.length = 0
    source.misbehave = () => undefined
    proxy.asked.length = 0
  })

  const login = () => ({ username: target.username, password: new Secret(target.password) })
  const named = (image: TestImage, name = 'team/web'): string => `${source.host}/${name}@${image.digest}`
  const repository = () => ({ repository: `${proxy.host}/service-${newId()}`, login: login() })
  const put = async (content: string | Buffer): Promise<TestImage> => {
    const image = await makeImage({ layers: [await tarOf(content), await tarOf('of all')] })
    source.put(image, 'latest')
    return image
  }

  it('pins a tag, fetches the image once, and publishes it byte for byte', async () => {
    const image = await put('first')
    const pinned = await mirror.pinImage(`${source.host}/team/web`, undefined, attempt())
    assert.deepEqual(pinned, { reference: named(image), digest: image.digest, isThere: false, namedBy: 'registry' })
    await mirror.fetchImage(pinned.reference, undefined, attempt())
    assert.equal((await mirror.pinImage(pinned.reference, undefined, attempt())).isThere, true)
    const asked = source.asked.length
    await mirror.fetchImage(pinned.reference, undefined, attempt())
    assert.equal(source.asked.length, asked)
    const to = repository()
    const published = await mirror.publish(pinned.reference, to, attempt())
    assert.deepEqual(published, { reference: `${to.repository}@${image.digest}`, digest: image.digest })
    assert.deepEqual(await readdir(directory), [])
  })

  it('publishes an image that was fetched without reading or sending any of its parts', async () => {
    const image = await put('mounted')
    await mirror.fetchImage(named(image), undefined, attempt())
    proxy.asked.length = 0
    await mirror.publish(named(image), repository(), attempt())
    assert.ok(proxy.asked.some((call) => /^POST .*mount=/.test(call)))
    assert.deepEqual(
      proxy.asked.filter((call) => /^(GET|PATCH|PUT) .*\/blobs\//.test(call)),
      [],
    )
  })

  it('sends only parts that the target does not have', async () => {
    const [one, two] = [await put('one'), await put('two')]
    const to = repository()
    for (const image of [one, two]) await mirror.fetchImage(named(image), undefined, attempt())
    await mirror.publish(named(one), to, attempt())
    lines.length = 0
    await mirror.publish(named(two), to, attempt())
    assert.match(lines.join(), /2 of 3 parts are new/)
    lines.length = 0
    await mirror.publish(named(two), to, attempt())
    assert.match(lines.join(), /0 of 3 parts are new/)
  })

  it('has an image only under the name by which it was fetched', async () => {
    const image = await put('private')
    await mirror.fetchImage(named(image), undefined, attempt())
    assert.equal((await mirror.pinImage(named(image, 'other/web'), undefined, attempt())).isThere, false)
  })

  it('does not get a part of another image for a manifest that only names its digest', async () => {
    const secret = await put('a secret layer')
    await mirror.fetchImage(named(secret), undefined, attempt())
    source.misbehave = ({ url, method }, response) => {
      if (method === 'HEAD' || !url?.includes('/thief/') || !url.includes('/blobs/')) return
      response.writeHead(404).end()
      return true
    }
    await assert.rejects(mirror.fetchImage(named(secret, 'thief/web'), undefined, attempt()), EngineError)
    assert.equal((await mirror.pinImage(named(secret, 'thief/web'), undefined, attempt())).isThere, false)
    assert.deepEqual(await readdir(directory), [])
  })

  it('refuses an image above the limit, and one that was never fetched', async () => {
    const bytes = Buffer.alloc(9 * mebibyte)
    crypto.getRandomValues(bytes.subarray(0, 65_536))
    const large = await makeImage({
      layers: [bytes],
      compress: (layer) => layer,
      layerType: 'application/vnd.oci.image.layer.v1.tar',
    })
    source.put(large)
    await assert.rejects(mirror.fetchImage(named(large), undefined, attempt()), /0\.01 GiB, and the limit is 0\.01 GiB/)
    await assert.rejects(mirror.publish(named(large), repository(), attempt()), /is no longer in .*Deploy again/)
  })

  it('says which registry refuses the password', async () => {
    const image = await put('first')
    source.misbehave = (_request, response) => {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
      return true
    }
    await assert.rejects(mirror.fetchImage(named(image), undefined, attempt()), (error: Error) => {
      assert.ok(error.message.includes(source.host), error.message)
      return true
    })
  })
})
