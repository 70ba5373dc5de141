import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Registry, startRegistry, whyNoRegistry } from '../../../test/support/registry.ts'
import { createAddressGuard } from '../../lib/address.ts'
import { silent } from '../../lib/attempt.ts'
import { systemClock as clock } from '../../lib/clock.ts'
import { Secret } from '../../lib/secret.ts'
import { makeImage, sha256, type TestImage, tarOf } from '../docker/registry/test-registry.ts'
import { EngineError } from '../engine-error.ts'
import type { BuildResults } from './build-results.ts'
import { createImageMirror } from './image-mirror.ts'
import type { ResultReceiver } from './receive-result.ts'

const labels = { 'quayside.recipe': 'r' }
const maxImageBytes = 8 * 1024 ** 2

describe('results of builders', { skip: await whyNoRegistry() }, () => {
  let registry: Registry
  let directory: string
  let results: BuildResults
  let others: BuildResults
  const attempt = () => ({ signal: AbortSignal.timeout(60_000), output: silent })

  before(async () => {
    registry = await startRegistry()
    directory = await mkdtemp(join(tmpdir(), 'quayside-results-'))
    const mirror = createImageMirror({
      clock,
      guard: createAddressGuard({ allowedPrivateCidrs: ['127.0.0.0/8'] }),
      maxImageBytes,
      floorBytes: 0,
      spoolDirectory: directory,
      insecureRegistries: [],
      target: async () => ({
        repository: `${registry.host}/platform`,
        login: { username: registry.username, password: new Secret(registry.password) },
      }),
    })
    results = mirror.resultsOf('built-one')
    others = mirror.resultsOf('built-other')
  })
  after(async () => {
    await registry.close()
    await rm(directory, { recursive: true, force: true })
  })

  const imageOf = async (content: string, given: object = labels): Promise<TestImage> =>
    makeImage({ layers: [await tarOf(content)], config: { config: { Labels: given } } })
  const put = async (result: ResultReceiver, bytes: Buffer): Promise<void> => {
    const part = await result.begin(sha256(bytes), bytes.length)
    await part?.write(bytes)
    await part?.commit()
  }
  const send = async (to: BuildResults, image: TestImage, tag: string) => {
    await using result = await to.receive(attempt())
    for (const bytes of [...image.blobs.values(), image.manifest]) await put(result, bytes)
    return await result.finish(image.digest, tag, labels)
  }
  const isRefused = (message: RegExp) => (error: unknown) => {
    assert.ok(error instanceof EngineError)
    assert.match(error.message, message)
    return true
  }

  it('are found by their tag until it is removed, and leave nothing on the disk', async () => {
    const image = await imageOf('first')
    const { id } = await send(results, image, 'one-1')
    assert.equal((await results.find('one-1', attempt()))?.id, id)
    assert.equal((await results.tagAgain(id, '-1', 'two-1', attempt()))?.id, id)
    assert.deepEqual(await results.list('two-', attempt()), ['two-1'])
    await results.remove('one-1', attempt())
    assert.equal(await results.find('one-1', attempt()), undefined)
    assert.equal((await results.find('two-1', attempt()))?.id, id)
    assert.deepEqual(await readdir(directory), [])
  })

  it('have no part that a builder only named', async () => {
    const secret = await imageOf('a layer of somebody else')
    await send(others, secret, 'other-1')
    await using result = await results.receive(attempt())
    await put(result, secret.manifest)
    await assert.rejects(result.finish(secret.digest, 'thief-1', labels), isRefused(/parts it did not send/))
    for (const [digest, bytes] of secret.blobs) assert.ok(await result.begin(digest, bytes.length))
  })

  it('are refused if they lie about bytes, sizes, labels or their manifest', async () => {
    await using result = await results.receive(attempt())
    const part = await result.begin(sha256('right'), 5)
    await assert.rejects(async () => part?.write(Buffer.from('longer')), isRefused(/more bytes/))
    await part?.close()
    const wrong = await result.begin(sha256('right'), 5)
    await wrong?.write(Buffer.from('wrong'))
    await assert.rejects(async () => wrong?.commit(), isRefused(/another digest/))
    await wrong?.close()
    await assert.rejects(result.begin('sha256:../../x', 5), isRefused(/without a digest/))
    await assert.rejects(result.begin(sha256('x'), -1), isRefused(/without a digest or a size/))
    await assert.rejects(result.finish(sha256('none'), 'x-1', labels), isRefused(/no manifest/))
    await assert.rejects(send(results, await imageOf('unlabelled', {}), 'x-1'), isRefused(/without the label/))
    assert.equal(await results.find('x-1', attempt()), undefined)
  })

  it('have a limit of size and of parts', async () => {
    await using large = await results.receive(attempt())
    await assert.rejects(large.begin(sha256('large'), maxImageBytes + 1), isRefused(/the limit is/))
    await using many = await results.receive(attempt())
    const all = Array.from({ length: 400 }, (_, index) => sha256(String(index)))
    await assert.rejects(
      async () => {
        for (const digest of all) await (await many.begin(digest, 1))?.close()
      },
      isRefused(/more than 300 parts/),
    )
  })
})
