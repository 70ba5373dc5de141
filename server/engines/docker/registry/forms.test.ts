import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { localName } from '../local-name.ts'
import { openFetchBench, say } from './test-fetching.ts'
import { makeImage, sha256, type TestImage, tarOf } from './test-registry.ts'

const image = await makeImage()
const tar = await tarOf('hello')
const sparse = await tarOf('told', { pax: { 'GNU.sparse.size': '1099511627776' } })

describe('forms of images', () => {
  const index = (manifests: readonly object[]) =>
    Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json', manifests }))
  const asImage = (manifest: Buffer): TestImage => ({
    digest: sha256(manifest),
    manifest,
    blobs: new Map(),
    diffIds: [],
  })
  const entry = (
    { digest, manifest }: TestImage,
    platform: object | undefined,
    mediaType = 'application/vnd.oci.image.manifest.v1+json',
  ) => ({ mediaType, digest, size: manifest.length, platform })

  it('with several platforms resolve to the engine’s own', async () => {
    await using bench = await openFetchBench()
    const [arm, own, old] = [
      await makeImage({ config: { a: 1 } }),
      await makeImage({ config: { a: 2 } }),
      await makeImage({ config: { a: 3 } }),
    ]
    const list = asImage(
      index([
        entry(arm, { os: 'linux', architecture: 'arm64', variant: 'v8' }),
        entry(old, { os: 'linux', architecture: 'amd64', variant: 'v3' }),
        entry(own, { os: 'linux', architecture: 'amd64' }),
        entry(arm, { os: 'unknown', architecture: 'unknown' }),
      ]),
    )
    for (const image of [arm, own, old, list]) bench.registry.put(image)
    await bench.fetch(list)
    assert.ok(bench.registry.asked.some(({ path }) => path.endsWith(own.digest)))
    assert.ok(bench.docker.images.has(localName(`${bench.name}@${list.digest}`)))
  })

  it('may have layers compressed by zstd, or uncompressed ones', async () => {
    for (const compress of [zstdCompressSync, (bytes: Buffer) => bytes]) {
      await using bench = await openFetchBench()
      const image = await makeImage({ compress })
      bench.registry.put(image)
      await bench.fetch(image)
    }
  })

  const refused: Readonly<Record<string, readonly [TestImage | Promise<TestImage>, RegExp]>> = {
    'a platform that is not there': [
      asImage(index([entry(image, { os: 'linux', architecture: 's390x' })])),
      /it has no image for linux\/amd64, only for linux\/s390x/,
    ],
    'a list in a list': [
      asImage(index([entry(image, { os: 'linux', architecture: 'amd64' }, 'application/vnd.oci.image.index.v1+json')])),
      /it has no image for linux\/amd64/,
    ],
    'a list that says it is an image': [
      makeImage({ manifest: { layers: undefined, config: undefined, manifests: [] } }),
      /says that it is/,
    ],
    'an image that is a list, too': [makeImage({ manifest: { manifests: [] } }), /neither an image nor a list/],
    'schema 1': [
      asImage(Buffer.from('{"schemaVersion":1,"fsLayers":[],"history":[]}')),
      /"schema 1", which is obsolete/,
    ],
    'no JSON': [asImage(Buffer.from('<html>')), /is not JSON/],
    'a chart': [
      makeImage({
        manifest: { config: { mediaType: 'application/vnd.cncf.helm.config.v1+json', size: 2, digest: sha256('{}') } },
      }),
      /not a container image/,
    ],
    'a layer elsewhere': [
      makeImage({ descriptor: { urls: ['http://127.0.0.1:1/layer'] } }),
      /is outside of the registry/,
    ],
    'a foreign layer': [
      makeImage({ layerType: 'application/vnd.docker.image.rootfs.foreign.diff.tar.gzip' }),
      /is outside of the registry/,
    ],
    'an encrypted layer': [
      makeImage({ layerType: 'application/vnd.oci.image.layer.v1.tar+gzip+encrypted' }),
      /one of its layers is/,
    ],
    'a layer of xz': [
      makeImage({ compress: () => Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0, 1]) }),
      /compressed by xz/,
    ],
    'a layer that is compressed twice': [
      makeImage({ compress: (bytes) => gzipSync(gzipSync(bytes)) }),
      /compressed twice/,
    ],
    'a layer with a sparse file, which Docker would unpack to its whole length': [
      makeImage({ layers: [tar, sparse] }),
      /"who" is sparse/,
    ],
    'a layer that cannot be unpacked': [
      makeImage({ compress: (bytes) => gzipSync(bytes).subarray(0, 20) }),
      /cannot be unpacked/,
    ],
    'a layer that is another one': [
      makeImage({ compress: () => gzipSync('other') }),
      /does not match the configuration of the image/,
    ],
    'fewer layers than diff ids': [makeImage({ manifest: { layers: [] } }), /name different layers/],
    'more layers than Docker can stack': [
      makeImage({ layers: Array.from({ length: 128 }, () => tar) }),
      /more than 127 layers/,
    ],
    'a digest that is none': [makeImage({ descriptor: { digest: 'sha256:../../x' } }), /without a sha256 digest/],
    'a size that is none': [makeImage({ descriptor: { size: -1 } }), /without a valid size/],
  }
  for (const [name, [made, message]] of Object.entries(refused)) {
    it(`${name} is rejected with the reason`, async () => {
      await using bench = await openFetchBench()
      const odd = await made
      bench.registry.put(odd)
      await assert.rejects(bench.fetch(odd), { reason: 'image-missing', message })
      assert.equal(bench.docker.loaded.length, 0)
    })
  }

  it('are recognized by the content of a manifest, not by its header', async () => {
    await using bench = await openFetchBench()
    bench.registry.put(image)
    bench.registry.misbehave = (request, response) => {
      if (!request.url?.includes('/manifests/')) return undefined
      response.writeHead(200, { 'content-type': 'application/vnd.docker.distribution.manifest.v1+prettyjws' })
      return say(image.manifest)(request, response)
    }
    await bench.fetch(image)
  })

  it('with an endless manifest are cut off', async () => {
    await using bench = await openFetchBench()
    bench.registry.misbehave = (_request, response) => {
      response.write('{"x":"')
      const more = (): void => void (response.destroyed || response.write('x'.repeat(65_536), more))
      more()
      return true
    }
    await assert.rejects(bench.fetch(await makeImage()), { message: /answered with more than 4194304 bytes/ })
  })
})
