import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { openDocker } from '../../test/support/docker.ts'
import { createPlatform, type Platform } from '../../test/support/platform.ts'
import { type Registry, startRegistry, whyNoRegistry } from '../../test/support/registry.ts'
import { until } from '../../test/support/until.ts'
import { ensureBaseImage } from '../builders/docker/base-image.ts'
import { engineForTests } from '../builders/docker/engine-for-tests.ts'
import { createBaseImages } from '../composition/base-images.ts'
import { localName } from '../engines/docker/local-name.ts'
import { changeImage, pushImage, removeImages, removeImagesOf, tagImage } from '../engines/docker/test-push.ts'
import { DockerEngine } from '../engines/index.ts'
import { createAddressGuard } from '../lib/address.ts'
import { systemClock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { Secret } from '../lib/secret.ts'

const { socketPath, skip } = await engineForTests()
const guard = createAddressGuard({ allowedPrivateCidrs: ['127.0.0.1/32'] })
const limit = (): AbortSignal => AbortSignal.timeout(60_000)
const program = `require('http').createServer((q, s) => s.end()).listen(8080); process.on('SIGTERM', () => process.exit(0))`

describe('a container of a registry with a password', { skip: skip || (await whyNoRegistry()) }, () => {
  let registry: Registry
  let platform: Platform
  let engine: DockerEngine
  let registryId = ''
  const endings: (() => unknown)[] = []
  let path = ''

  before(async () => {
    registry = await startRegistry()
    engine = new DockerEngine({ socketPath, instance: `test-${newId().slice(-8)}`, clock: systemClock, guard })
    const settings = { QUAYSIDE_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' }
    platform = await createPlatform({ after: (work) => void endings.push(work) }, { works: true, engine, settings })
    await ensureBaseImage({ socketPath }, limit())
    await push('1', 'one')
    const { id } = await must('POST', `/organization/${platform.a.organizationId}/containerRegistry`, login())
    registryId = id
    const environmentId = platform.a.objects.environmentId
    const container = await must('POST', `/environment/${environmentId}/container`, {
      ...body,
      registry_id: registryId,
    })
    path = `/container/${container.id}`
  })
  after(async () => {
    if (!registry) return
    // A server that still works would create the network of the environment again.
    for (const end of endings) await end()
    const service = path.slice('/container/'.length)
    if (service !== '') await engine.erase(service, { signal: limit(), output: { line: () => {} } })
    await engine.eraseEnvironment(platform.a.objects.environmentId, { signal: limit(), output: { line: () => {} } })
    await removeImagesOf(socketPath, registry.host)
    await registry.close()
  })

  const body = {
    name: 'from-registry',
    image_name: 'team/web',
    tag: '1',
    memory: 128,
    ports: [{ internal_port: 8080, protocol: 'HTTP', publicly_accessible: false, name: 'web' }],
    healthchecks: {},
  }
  const login = (password: string = registry.password) => ({
    name: 'of the test',
    kind: 'GENERIC_CR',
    url: `http://${registry.host}`,
    config: { username: registry.username, password },
  })

  /** Pushes an image with this VERSION and leaves no copy on the engine. */
  async function push(tag: string, version: string): Promise<void> {
    const image = `${registry.host}/team/web:${tag}`
    const changes = [`ENV VERSION=${version}`, `CMD ${JSON.stringify(['node', '-e', program])}`]
    await changeImage(socketPath, 'quayside/node:24', image, changes)
    await pushImage(socketPath, image, { username: registry.username, password: new Secret(registry.password) })
    await removeImages(socketPath, [image])
  }
  async function must(method: string, at: string, sent?: object) {
    const answer = await platform.call(platform.a.tokens.ADMIN, method, at, sent, { 'x-state-dialect': 'full' })
    assert.ok(answer.status < 300, `${method} ${at}: ${answer.status} ${answer.text}`)
    return Object(answer.body)
  }
  async function ends(action: string, sent?: object) {
    await must('POST', `${path}${action}`, sent)
    return until(`${action} has ended`, async () => {
      const status = await must('GET', `${path}/status`)
      return status.deployment_request_id === null && status.last_deployment_date !== undefined ? status : undefined
    })
  }
  const inspect = (name: string) => openDocker(socketPath).inspectImage(name)
  /** Returns the VERSION inside the running container. */
  const version = async (): Promise<string> =>
    (await engine.exec(path.slice('/container/'.length), ['node', '-p', 'process.env.VERSION'], limit())).output.trim()

  it('runs the image that its tag named at deployment until it is deployed again', async () => {
    assert.equal((await ends('/deploy')).state, 'DEPLOYED')
    assert.equal(await version(), 'one')
    await push('1', 'two')
    assert.equal((await ends('/restart-service')).state, 'RESTARTED')
    assert.equal(await version(), 'one')
    assert.equal((await ends('/deploy')).state, 'DEPLOYED')
    assert.equal(await version(), 'two')
  })

  it('keeps the previous version and reports why when the new image cannot be fetched', async () => {
    const missing = await ends('/deploy', { image_tag: 'none' })
    assert.equal(missing.state, 'DEPLOYMENT_ERROR')
    assert.match(missing.reason, new RegExp(`registry ${registry.host} has no image with that name and tag`))
    assert.equal(await version(), 'two')
    const at = `/organization/${platform.a.organizationId}/containerRegistry/${registryId}`
    await must('PUT', at, login('wrong'))
    const refused = await ends('/deploy', { image_tag: '1' })
    assert.equal(refused.state, 'DEPLOYMENT_ERROR')
    assert.match(refused.reason, /does not give access.*Check the user name and password of the registry/)
    assert.equal(await version(), 'two')
    await must('PUT', at, login())
    assert.equal((await ends('/deploy')).state, 'DEPLOYED')
    assert.ok(!JSON.stringify(platform.logged).includes(registry.password))
  })

  it('is never a base image of another organization, by any name, even while its registry is unreachable', async () => {
    const bases = createBaseImages({ socketPath, database: platform.database, instance: newId().slice(-8) }, engine)
    const { a, b } = platform
    const service = path.slice('/container/'.length)
    const rows = await platform.database<{ reference: string; digest: string }[]>`
      select r.image ->> 'reference' as reference, r.image ->> 'digest' as digest
      from release r join service s on s.release_id = r.id where s.id = ${service}`
    const { reference = '', digest = '' } = rows[0] ?? {}
    const fetched = localName(reference)
    const { Id } = await inspect(fetched)
    const tagged = `operator-${newId().slice(-8)}:1`
    await tagImage(socketPath, Id, tagged)
    const names = [
      `${registry.host}/team/web:1`,
      reference,
      `${registry.host}/team/web@${digest}`,
      tagged,
      fetched,
      Id,
      Id.slice('sha256:'.length),
      `sha256:${Id.slice(7, 19)}`,
    ]
    const attempt = () => ({ signal: limit(), output: { line: () => {} } })
    try {
      const refused = async (tried: readonly string[]): Promise<void> => {
        for (const name of tried)
          await assert.rejects(bases.bring(name, b.organizationId, attempt()), { name: 'BuildError' }, name)
      }
      await refused(names)
      await registry.stop()
      // By name and tag, the engine would ask the registry for half a minute.
      await refused([reference, tagged, fetched])
      await registry.start()
      const brought = await bases.bring(tagged, a.organizationId, attempt())
      assert.equal((await inspect(brought.reference)).Id, Id)
      await brought.release?.()
      await assert.rejects(bases.bring(tagged, undefined, attempt()), { name: 'BuildError' })
    } finally {
      await removeImages(socketPath, [tagged])
    }
  })

  it('restarts without its registry', async () => {
    await registry.stop()
    assert.equal((await ends('/restart-service')).state, 'RESTARTED')
    assert.equal(await version(), 'two')
  })
})
