import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { localName } from './local-name.ts'
import type { TestDockerOptions } from './registry/test-docker.ts'
import { isBlob, openFetchBench, say } from './registry/test-fetching.ts'
import { type Misbehaviour, makeImage, sha256, tarOf } from './registry/test-registry.ts'

const [small, large] = [await tarOf('small'), await tarOf(Buffer.alloc(3_000_000))]

describe('fetching images', () => {
  it('loads an image once, under a name that contains its digest', async () => {
    await using bench = await openFetchBench()
    const { docker, registry, name } = bench
    const image = await makeImage({ layers: [await tarOf('a'), await tarOf('b'), await tarOf('a')] })
    registry.put(image)
    await bench.fetch(image)
    assert.deepEqual([...docker.images.keys()], [localName(`${name}@${image.digest}`)])
    const asked = registry.asked.length
    await bench.fetch(image)
    assert.equal(registry.asked.length, asked)
    assert.match(docker.lines.join(), /^The image is there: 3 layers, 0\.0 MB fetched\.$/)
  })

  it('fetches an image once for concurrent callers', async () => {
    await using bench = await openFetchBench()
    const image = await makeImage()
    bench.registry.put(image)
    await Promise.all([1, 2, 3].map(() => bench.fetch(image)))
    assert.equal(bench.docker.loaded.length, 1)
  })

  it('fetches only layers that no local image begins with, and all of them if that image was removed meanwhile', async () => {
    const [base, own] = [await tarOf('base'), await tarOf('own')]
    const image = await makeImage({ layers: [base, own] })
    for (const loads of ['whole', 'gone'] as const) {
      await using bench = await openFetchBench()
      bench.registry.put(image)
      const former = localName(`${bench.name}@sha256:${'b'.repeat(64)}`)
      const hold = (Layers: string[]): void =>
        void bench.docker.images.set(former, { RepoTags: [former], RootFS: { Layers } })
      hold([sha256(base), sha256('another')])
      if (loads === 'gone') await bench.docker.registries.present.count([], bench.name, bench.docker.attempt.signal)
      if (loads === 'gone') hold([])
      await bench.fetch(image)
      const fetched = bench.registry.asked.filter(({ path }) => isBlob(path)).length - 1
      assert.equal(fetched, loads === 'whole' ? 1 : 2)
    }
  })

  it('reuses no layer of an image of another repository', async () => {
    const [secret, own] = [await tarOf('secret'), await tarOf('own')]
    const image = await makeImage({ layers: [secret, own] })
    const packed = sha256(gzipSync(secret))
    for (const [of, fetched] of [
      ['registry.example/private/web', 1],
      ['', 0],
    ] as const) {
      await using bench = await openFetchBench()
      bench.registry.put(image)
      const reference = `${of === '' ? bench.name : of}@sha256:${'a'.repeat(64)}`
      const held = { RepoTags: [localName(reference)], RootFS: { Layers: [sha256(secret)] } }
      bench.docker.images.set(localName(reference), held)
      await bench.fetch(image)
      assert.equal(bench.registry.asked.filter(({ path }) => path.endsWith(packed)).length, fetched)
    }
  })

  it('reuses no layer of an image without a reference, such as an old build of another organization', async () => {
    const secret = await tarOf('secret')
    const image = await makeImage({ layers: [secret, await tarOf('own')] })
    const packed = sha256(gzipSync(secret))
    for (const held of [
      {},
      { RepoTags: null },
      { RepoTags: ['<none>:<none>'], RepoDigests: ['<none>@<none>'] },
      { RepoTags: ['built/shop:1'] },
    ]) {
      await using bench = await openFetchBench()
      bench.registry.put(image)
      bench.docker.images.set('sha256:built', { ...held, RootFS: { Layers: [sha256(secret)] } })
      await bench.fetch(image)
      assert.equal(bench.registry.asked.filter(({ path }) => path.endsWith(packed)).length, 1, JSON.stringify(held))
    }
  })

  it('resumes a download, whether or not the registry supports ranges', async () => {
    const layer = await tarOf(Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 7919) % 251)))
    const image = await makeImage({
      layers: [layer],
      compress: (bytes) => bytes,
      layerType: 'application/vnd.oci.image.layer.v1.tar',
    })
    const digest = sha256(layer)
    for (const knowsRanges of [true, false]) {
      await using bench = await openFetchBench()
      bench.registry.put(image)
      let cuts = 2
      bench.registry.misbehave = (request, response) => {
        if (!request.url?.endsWith(digest)) return undefined
        if (cuts-- > 0) {
          const from = knowsRanges ? Number(/\d+/.exec(request.headers.range ?? '0')) : 0
          response.writeHead(from > 0 ? 206 : 200, { 'content-range': `bytes ${from}-1/2` })
          response.write(layer.subarray(from, from + 100_000), () => response.destroy())
          return true
        }
        if (!knowsRanges) delete request.headers.range
        return undefined
      }
      await bench.fetch(image)
      const ranges = bench.registry.asked.filter(({ path }) => path.endsWith(digest)).map(({ range }) => range)
      assert.equal(ranges.length, 3)
      assert.match(ranges[1] ?? '', /^bytes=[1-9]\d*-$/)
      assert.deepEqual(bench.docker.waited, [1000, 2000])
    }
  })

  const lies: Readonly<Record<string, (bytes: Buffer) => Misbehaviour>> = {
    'other bytes': (bytes) => say(Buffer.alloc(bytes.length, 1)),
    'more bytes': (bytes) => say(Buffer.concat([bytes, bytes])),
  }
  for (const [name, lie] of Object.entries(lies)) {
    it(`rejects ${name} than the digest promises after three tries`, async () => {
      await using bench = await openFetchBench()
      const layer = gzipSync(await tarOf('hello'))
      const image = await makeImage()
      bench.registry.put(image)
      bench.registry.misbehave = (request, response) =>
        request.url?.endsWith(sha256(layer)) ? lie(layer)(request, response) : undefined
      await assert.rejects(bench.fetch(image), {
        reason: 'image-missing',
        message: /is rejected: the data that the registry .* sent does not match its digest/,
      })
      assert.equal(bench.registry.asked.filter(({ path }) => path.endsWith(sha256(layer))).length, 3)
      assert.equal(bench.docker.loaded.length, 0)
    })
  }

  it('rejects a manifest or a configuration with another digest', async () => {
    for (const kind of ['manifests', 'blobs']) {
      await using bench = await openFetchBench()
      const image = await makeImage()
      bench.registry.put(image)
      bench.registry.misbehave = (request, response) =>
        request.url?.includes(`/${kind}/`) ? say('{}')(request, response) : undefined
      await assert.rejects(bench.fetch(image), { message: /does not match its digest/ })
    }
  })

  it('times out on a registry that sends too slowly', async () => {
    let now = 0
    // Each piece takes longer than the last one may.
    await using bench = await openFetchBench({ monotonic: () => (now += 20_000) })
    const image = await makeImage()
    bench.registry.put(image)
    bench.registry.misbehave = (request, response) => {
      if (!isBlob(request.url) || request.headers.accept) return undefined
      const trickle = setInterval(() => response.write('x'), 5)
      response.on('close', () => clearInterval(trickle))
      return true
    }
    await assert.rejects(bench.fetch(image), { reason: 'registry-away', message: /it sent \d+ bytes in \d+ s/ })
  })

  it('fetches no layer when the manifest exceeds the size limit for images', async () => {
    await using bench = await openFetchBench({ maxImageBytes: 1_000_000 })
    const image = await makeImage({
      layers: [small, large],
      compress: (bytes) => bytes,
      layerType: 'application/vnd.oci.image.layer.v1.tar',
    })
    bench.registry.put(image)
    await assert.rejects(bench.fetch(image), {
      reason: 'refused',
      message: /is too large \(its .*QUAYSIDE_IMAGE_SIZE\)/,
    })
    assert.equal(bench.registry.asked.filter(({ path }) => isBlob(path)).length, 1, 'the configuration')
  })

  for (const [name, compress] of [
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ] as const) {
    it(`stops unpacking ${name} at the size limit, and keeps nothing`, async () => {
      await using bench = await openFetchBench({ maxImageBytes: 1_000_000 })
      const image = await makeImage({ layers: [large], compress })
      bench.registry.put(image)
      await assert.rejects(bench.fetch(image), { reason: 'refused', message: /is too large/ })
      assert.equal(bench.docker.loaded.length, 0)
    })
  }

  it('removes an image whose layers exceed the size limit together with layers it already had', async () => {
    for (const [size, isKept] of [
      [2 * 1024 ** 3, true],
      [2.5 * 1024 ** 3, false],
    ] as const) {
      await using bench = await openFetchBench({ size })
      const image = await makeImage()
      bench.registry.put(image)
      const own = localName(`${bench.name}@${image.digest}`)
      if (isKept) await bench.fetch(image)
      else
        await assert.rejects(bench.fetch(image), {
          reason: 'refused',
          message: /its size is 2\.50 GiB, and the limit is 2\.00 GiB/,
        })
      assert.equal(bench.docker.images.has(own), isKept)
    }
  })

  it('stops when free disk space falls below the floor, and keeps nothing', async () => {
    await using bench = await openFetchBench({ floorBytes: 2 ** 60 })
    const image = await makeImage()
    bench.registry.put(image)
    bench.registry.misbehave = (request) => isBlob(request.url)
    await assert.rejects(bench.fetch(image), {
      reason: 'disk-full',
      message: /disk of the engine is full \(less than .* are free \(QUAYSIDE_DISK_FLOOR\)\)/,
    })
    assert.equal(bench.docker.loaded.length, 0)
  })

  it('says clearly that the engine’s disk is full', async () => {
    const loads: TestDockerOptions['loads'] = (request, response) => {
      request.resume()
      request.on('end', () => response.end('{"error":"failed to register layer: write /x: no space left on device"}\n'))
    }
    await using bench = await openFetchBench({ loads })
    const image = await makeImage()
    bench.registry.put(image)
    await assert.rejects(bench.fetch(image), {
      reason: 'disk-full',
      message: /the disk of the engine is full.*Free space there/,
    })
  })

  it('reports the engine as away when the daemon breaks the connection, not the registry', async () => {
    await using bench = await openFetchBench({ loads: (request) => void request.socket.destroy() })
    const image = await makeImage()
    bench.registry.put(image)
    await assert.rejects(bench.fetch(image), { reason: 'unreachable' })
  })
})
