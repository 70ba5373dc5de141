import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { openDocker } from '../../../../test/support/docker.ts'
import { engineForTests } from '../../../builders/docker/engine-for-tests.ts'
import { systemClock } from '../../../lib/clock.ts'
import { newId } from '../../../lib/id.ts'
import type { ResultReceiver } from '../../mirror/receive-result.ts'
import { DockerDaemon } from '../daemon.ts'
import { makeImage, sha256, tarOf } from '../registry/test-registry.ts'
import { openImageReceiver } from './receive-image.ts'

const { socketPath, skip } = await engineForTests()

describe('images of a daemon that a step has taken over', { skip }, () => {
  const daemon = new DockerDaemon({ socketPath, clock: systemClock })
  const docker = openDocker(socketPath)
  const stolen = `quayside/stolen-${newId()}:1`
  let directory: string
  let result: ResultReceiver

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'quayside-received-'))
    const signal = AbortSignal.timeout(60_000)
    result = openImageReceiver({ daemon, directory, maxImageBytes: 256 * 1024 ** 2, signal })
  })
  afterEach(async () => {
    await result[Symbol.asyncDispose]()
    await rm(directory, { recursive: true, force: true })
    await docker.ask({ method: 'DELETE', path: `/images/${stolen}` })
  })
  const put = async (bytes: Buffer): Promise<void> => {
    const part = await result.begin(sha256(bytes), bytes.length)
    await part?.write(bytes)
    await part?.commit()
    await part?.close()
  }
  const imageOf = (layer: Buffer) =>
    makeImage({ layers: [layer], compress: (bytes) => bytes, layerType: 'application/vnd.oci.image.layer.v1.tar' })
  /** Returns an archive of an image as Docker loads it. */
  const savedImage = async (tag: string): Promise<Buffer> => {
    const layer = await tarOf('stolen')
    const rootfs = { type: 'layers', diff_ids: [sha256(layer)] }
    const archive = pack()
    archive.entry({ name: 'layer.tar' }, layer)
    archive.entry({ name: 'config.json' }, JSON.stringify({ os: 'linux', architecture: 'amd64', rootfs }))
    const manifest = [{ Config: 'config.json', RepoTags: [tag], Layers: ['layer.tar'] }]
    archive.entry({ name: 'manifest.json' }, JSON.stringify(manifest))
    archive.finalize()
    return buffer(archive)
  }

  it('do not name other images by a layer that is longer than its second size', async () => {
    // Docker stops reading at the end of the inner archive. The rest keeps the sender waiting.
    const layer = Buffer.concat([Buffer.alloc(512), await savedImage(stolen), Buffer.alloc(100 * 1024 ** 2)])
    const image = await imageOf(layer)
    for (const bytes of image.blobs.values()) await put(bytes)
    const manifest = Buffer.from(image.manifest.toString().replace(`"size":${layer.length}`, '"size":512'))
    await put(manifest)
    const finished = (async () => {
      await result.begin(sha256(layer), 512)
      await result.finish(sha256(manifest), `quayside/own-${newId()}:1`, {})
    })()
    await Promise.allSettled([finished])
    await assert.rejects(docker.inspectImage(stolen), 'the archive inside of the layer was loaded')
    await assert.rejects(finished, /two sizes/)
  })

  it('are not loaded with sparse files or compressed layers, which Docker would unpack without a limit', async () => {
    const sparse = await tarOf(Buffer.alloc(512), {
      type: 'file',
      pax: { 'GNU.sparse.major': '1', 'GNU.sparse.minor': '0' },
    })
    for (const [layer, said] of [
      [sparse, /sparse/],
      [gzipSync(await tarOf('more')), /compressed/],
    ] as const) {
      const image = await imageOf(layer)
      for (const bytes of [...image.blobs.values(), image.manifest]) await put(bytes)
      await assert.rejects(result.finish(image.digest, `quayside/own-${newId()}:1`, {}), said)
    }
  })

  it('have no part that another writer changed after its check', async () => {
    const bytes = Buffer.from('{"first":1}')
    const first = await result.begin(sha256(bytes), bytes.length)
    const second = result.begin(sha256(bytes), bytes.length)
    await first?.write(bytes)
    await first?.commit()
    await first?.close()
    assert.equal(await second, undefined)
  })
})
