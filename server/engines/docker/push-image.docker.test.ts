import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { type Registry, startRegistry, whyNoRegistry } from '../../../test/support/registry.ts'
import { type RegistryProxy, startRegistryProxy } from '../../../test/support/registry-proxy.ts'
import { engineForTests } from '../../builders/docker/engine-for-tests.ts'
import { createAddressGuard } from '../../lib/address.ts'
import { systemClock } from '../../lib/clock.ts'
import { newId } from '../../lib/id.ts'
import { Secret } from '../../lib/secret.ts'
import { EngineError } from '../engine.ts'
import { DockerEngine } from './docker-engine.ts'
import { changeImage, makeSmallImage, removeImages, removeImagesOf } from './test-push.ts'

const { socketPath, skip } = await engineForTests()
const guard = createAddressGuard({ allowedPrivateCidrs: ['127.0.0.1/32'] })
const mebibyte = 1024 ** 2

describe('Docker pushes images', { skip: skip || (await whyNoRegistry()) }, () => {
  const id = newId().slice(-8)
  const [first, second, third] = [1, 2, 3].map((n) => `quayside-push-test/${id}:${n}`) as [string, string, string]
  const lines: string[] = []
  /** Pauses between tries end at once. */
  const clock = {
    ...systemClock,
    sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms < 60_000 ? Math.min(ms, 10) : ms, signal),
  }
  const engine = new DockerEngine({ socketPath, instance: `test-${id}`, clock, guard })
  let registry: Registry
  let proxy: RegistryProxy
  const attempt = () => ({
    signal: AbortSignal.timeout(60_000),
    output: { line: (text: string) => void lines.push(text) },
  })
  const login = (password = registry.password) => ({ username: registry.username, password: new Secret(password) })
  const target = (path: string) => ({ repository: `${proxy.host}/${path}`, login: login() })
  const sentBlobs = (): string[] => proxy.asked.filter((one) => one.startsWith('PATCH '))

  before(async () => {
    registry = await startRegistry()
    proxy = await startRegistryProxy(registry)
    await makeSmallImage(socketPath, first, 9 * mebibyte)
    await changeImage(socketPath, first, second, ['CMD ["two"]'])
    await makeSmallImage(socketPath, third, 9 * mebibyte)
  })
  after(async () => {
    if (!registry) return
    await removeImages(socketPath, [first, second, third])
    await removeImagesOf(socketPath, proxy.host)
    await proxy.close()
    await registry.close()
  })
  beforeEach(() => {
    proxy.misbehave = () => false
    proxy.asked.length = 0
    lines.length = 0
  })

  it('in chunks, and the same image can be fetched by the returned digest', async () => {
    const { reference, digest } = await engine.pushImage(first, target('team/web'), attempt())
    assert.match(reference, new RegExp(`^${proxy.host}/team/web@sha256:[0-9a-f]{64}$`))
    assert.ok(reference.endsWith(digest))
    assert.ok(sentBlobs().length >= 4, `three chunks of a layer and a configuration: ${sentBlobs().length}`)
    await engine.fetchImage(reference, login(), attempt())
    assert.equal((await engine.pinImage(reference, undefined, attempt())).isThere, true)
    const again = await engine.pushImage(reference, target('team/copy'), attempt())
    assert.equal(again.digest, digest, 'what was fetched is what was pushed')
  })

  it('and reports before that whether a registry is away or refuses the password', async () => {
    const problem = (repository: string, password?: string) =>
      engine.pushProblem({ repository, login: login(password) }, AbortSignal.timeout(60_000))
    assert.equal(await problem(`${proxy.host}/team/check`), undefined)
    assert.deepEqual(
      proxy.asked.filter((one) => /^(?:POST|DELETE) /.test(one)).map((one) => one.split(' ')[0]),
      ['POST', 'POST', 'DELETE'],
      'without a password, with one, and the end of the upload',
    )
    assert.match(
      (await problem(`${proxy.host}/team/check`, 'wrong')) ?? '',
      /does not give access.*whether they may push/,
    )
    assert.match((await problem('127.0.0.1:1/team/check')) ?? '', /127\.0\.0\.1:1 cannot be reached/)
  })

  it('without blobs that the registry already has', async () => {
    const once = await engine.pushImage(first, target('team/web'), attempt())
    proxy.asked.length = 0
    assert.deepEqual(await engine.pushImage(first, target('team/web'), attempt()), once)
    assert.deepEqual(sentBlobs(), [])
    await engine.pushImage(second, target('team/web'), attempt())
    assert.equal(sentBlobs().length, 1, 'the configuration alone is new')
  })

  it('with blobs mounted from another repository of the registry', async () => {
    await engine.pushImage(first, target('team/web'), attempt())
    proxy.asked.length = 0
    const there = await engine.pushImage(first, target('team/other'), attempt())
    assert.deepEqual(sentBlobs(), [])
    assert.equal(proxy.asked.filter((one) => one.includes('mount=sha256')).length, 2)
    assert.match(there.reference, /team\/other@/)
  })

  it('despite a reset and a failed status', async () => {
    let [resets, failures] = [0, 0]
    proxy.misbehave = (asked, answer) => {
      if (asked.method === 'PATCH' && asked.headers['content-range']?.startsWith('4194304-') && resets++ === 0) {
        asked.once('data', () => asked.socket.resetAndDestroy())
        return true
      }
      if (asked.method === 'PUT' && failures++ === 0) {
        asked.resume()
        answer.writeHead(503).end('{"errors":[{"message":"later"}]}')
        return true
      }
      return false
    }
    const { reference } = await engine.pushImage(third, target('team/third'), attempt())
    assert.match(reference, /team\/third@sha256:/)
    const ofFirstChunk = proxy.asked.filter((one) => one.startsWith('POST ')).length
    assert.equal(ofFirstChunk, 2, 'one upload a blob: after the reset it continued')
    assert.equal(lines.filter((line) => line.includes('Trying again')).length, 2)
  })

  it('and restarts an upload that the registry has lost', async () => {
    let lost = 0
    proxy.misbehave = (asked, answer) => {
      if (asked.method !== 'PATCH' || lost > 0) return false
      lost++
      asked.resume()
      answer.writeHead(404).end('{"errors":[{"code":"BLOB_UPLOAD_UNKNOWN"}]}')
      return true
    }
    assert.match((await engine.pushImage(third, target('team/lost'), attempt())).reference, /team\/lost@/)
  })

  it('and reports the reason when the password is missing', async () => {
    const wrong = { repository: `${proxy.host}/team/web`, login: login('NOT-THE-PASSWORD') }
    await assert.rejects(engine.pushImage(third, wrong, attempt()), (error: unknown) => {
      assert.ok(error instanceof EngineError)
      assert.match(error.message, /^The image cannot be published to .*does not give access .*Check the user name/)
      assert.ok(!`${error.stack}${lines}`.includes('NOT-THE-PASSWORD'))
      return true
    })
    proxy.misbehave = (_asked, answer) => {
      answer.writeHead(500).end()
      return true
    }
    await assert.rejects(engine.pushImage(third, target('team/web'), attempt()), { reason: 'registry-away' })
    assert.ok(!lines.join().includes(registry.password))
    const gone = engine.pushImage(`quayside-push-test/${id}:gone`, target('team/web'), attempt())
    await assert.rejects(gone, { reason: 'image-missing' })
  })

  it('and does not follow an upload to another host', async () => {
    proxy.misbehave = (asked, answer) => {
      if (asked.method !== 'POST') return false
      asked.resume()
      answer.writeHead(202, { location: 'http://127.0.0.2:1/v2/x/blobs/uploads/1' }).end()
      return true
    }
    await assert.rejects(
      engine.pushImage(third, target('team/elsewhere'), attempt()),
      /it redirects uploads to 127.0.0.2:1/,
    )
  })
})
