import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { addTenant, type Tenant } from '../../test/support/fixture.ts'
import { createPlatform, type Platform } from '../../test/support/platform.ts'
import { type PrivateEngine, startPrivateEngine, whyNoPrivateEngine } from '../../test/support/private-engine.ts'
import { type Registry, startRegistry, whyNoRegistry } from '../../test/support/registry.ts'
import { until } from '../../test/support/until.ts'
import { ensureBaseImage } from '../builders/docker/base-image.ts'
import { engineForTests } from '../builders/docker/engine-for-tests.ts'
import { changeImage, pushImage, removeImages, removeImagesOf } from '../engines/docker/test-push.ts'
import { DockerEngine, FakeEngine } from '../engines/index.ts'
import { createAddressGuard } from '../lib/address.ts'
import { silent } from '../lib/attempt.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { Secret } from '../lib/secret.ts'
import type { Composition } from './index.ts'

// Two Docker Engines and a fake one as three clusters in one server.

const { socketPath, skip } = await engineForTests()
const why = skip || (await whyNoPrivateEngine()) || (await whyNoRegistry())
const limit = (): AbortSignal => AbortSignal.timeout(120_000)
const program =
  `console.log('it ` +
  `runs');require('http').createServer((q,s)=>s.end()).listen(8080);process.on('SIGTERM',()=>process.exit(0))`

describe('two Docker Engines and a fake one in one server', { skip: why }, () => {
  const endings: (() => unknown)[] = []
  let registry: Registry
  let other: PrivateEngine
  let platform: Platform
  let first: DockerEngine
  let second: DockerEngine
  const third = new FakeEngine({ clock })
  let restarted: Composition | undefined

  before(async () => {
    registry = await startRegistry()
    other = await startPrivateEngine()
    const guard = createAddressGuard({ allowedPrivateCidrs: ['127.0.0.1/32'] })
    const instance = `test-${newId().slice(-8)}`
    first = new DockerEngine({ socketPath, instance, clock, guard })
    second = new DockerEngine({ socketPath: other.socketPath, instance, clock, guard })
    await ensureBaseImage({ socketPath }, limit())
    for (const version of ['1', '2']) await push(version)
    platform = await createPlatform(
      { after: (work) => void endings.push(work) },
      {
        works: true,
        engine: first,
        engines: [
          { name: 'second', engine: second },
          { name: 'third', engine: third },
        ],
        settings: { QUAYSIDE_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' },
      },
    )
  })
  after(async () => {
    await restarted?.stop()
    for (const end of endings) await end()
    other?.resume()
    for (const { id, environment } of services) {
      await first.erase(id, { signal: limit(), output: silent })
      await first.eraseEnvironment(environment, { signal: limit(), output: silent })
      await second.erase(id, { signal: limit(), output: silent })
      await second.eraseEnvironment(environment, { signal: limit(), output: silent })
    }
    if (registry) await removeImagesOf(socketPath, registry.host)
    await other?.close()
    await registry?.close()
  })

  const services: { readonly id: string; readonly environment: string }[] = []

  /** Pushes an image with this VERSION, and removes it from the engine. */
  async function push(version: string): Promise<void> {
    const image = `${registry.host}/team/web:${version}`
    const changes = [`ENV VERSION=${version}`, `CMD ${JSON.stringify(['node', '-e', program])}`]
    await changeImage(socketPath, 'quayside/node:24', image, changes)
    await pushImage(socketPath, image, { username: registry.username, password: new Secret(registry.password) })
    await removeImages(socketPath, [image])
  }

  /** One container of a tenant whose cluster has this engine. */
  async function containerOf(tenant: Tenant & { readonly environmentId: string }, engine: string) {
    const { database } = platform
    await database`update cluster set engine = ${engine} where id = ${tenant.clusterId}`
    const send = async (method: string, path: string, body?: object) => {
      const answer = await platform.call(tenant.tokens.ADMIN, method, path, body, { 'x-state-dialect': 'full' })
      assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
      return Object(answer.body)
    }
    const { id: registryId } = await send('POST', `/organization/${tenant.organizationId}/containerRegistry`, {
      name: 'of the test',
      kind: 'GENERIC_CR',
      url: `http://${registry.host}`,
      config: { username: registry.username, password: registry.password },
    })
    const { id } = await send('POST', `/environment/${tenant.environmentId}/container`, {
      name: 'web',
      registry_id: registryId,
      image_name: 'team/web',
      tag: '1',
      memory: 128,
      ports: [{ internal_port: 8080, protocol: 'HTTP', publicly_accessible: false, name: 'web' }],
      healthchecks: {},
    })
    services.push({ id, environment: tenant.environmentId })
    const lastStatus = async (): Promise<string> => {
      const [row] = await database`
        select status from deployment_request where environment_id = ${tenant.environmentId} order by seq desc limit 1`
      return String(row?.['status'])
    }
    return {
      id: String(id),
      deploy: (tag: string) => send('POST', `/container/${id}/deploy`, { image_tag: tag }),
      status: lastStatus,
      ends: async () => {
        const steps = () => database`
          select s.name, s.status, s.error from workflow_step s join deployment_request r on r.id = s.workflow_id
          where r.environment_id = ${tenant.environmentId} order by r.seq desc limit 20`
        let [status, seen]: [string, unknown] = ['', undefined]
        await until(
          `the deployment on ${engine} ends`,
          async () => {
            status = await lastStatus()
            seen = await steps()
            assert.notEqual(status, 'ERROR')
            return status === 'SUCCESS'
          },
          { seen: () => [status, seen] },
        )
      },
    }
  }

  const versionOn = async (engine: DockerEngine, service: string): Promise<string> =>
    (await engine.exec(service, ['node', '-p', 'process.env.VERSION'], limit())).output.trim()

  it('an engine that hangs does not delay the others, and its deployment survives a restart of the server', async () => {
    const { a, b } = platform
    const c = await addTenant(platform.database, platform, 'C')
    const ofC = await platform.addObjects(c)
    const onFirst = await containerOf({ ...a, environmentId: a.objects.environmentId }, 'local')
    const onSecond = await containerOf({ ...b, environmentId: b.objects.environmentId }, 'second')
    const onThird = await containerOf({ ...c, environmentId: ofC.environmentId }, 'third')
    for (const one of [onFirst, onSecond, onThird]) await one.deploy('1')
    for (const one of [onFirst, onSecond, onThird]) await one.ends()
    assert.deepEqual([await versionOn(first, onFirst.id), await versionOn(second, onSecond.id)], ['1', '1'])
    assert.equal((await first.observe(onSecond.id, limit())).state, 'absent')
    assert.equal((await second.observe(onFirst.id, limit())).state, 'absent')

    other.pause()
    await onSecond.deploy('2')
    await until('the deployment to the second engine has begun', async () => (await onSecond.status()) === 'ONGOING')
    for (const one of [onFirst, onThird]) await one.deploy('2')
    for (const one of [onFirst, onThird]) await one.ends()
    assert.equal(await versionOn(first, onFirst.id), '2')
    await linesOf(first, onFirst.id)
    await first.retire(onFirst.id, undefined, { signal: limit(), output: silent })
    await until('what was ended by hand is brought back', async () => {
      return (await first.observe(onFirst.id, limit())).state === 'running'
    })
    assert.equal(await onSecond.status(), 'ONGOING')

    await platform.stop()
    const engines = [
      { name: 'local', engine: first },
      { name: 'second', engine: second },
      { name: 'third', engine: third },
    ]
    const names = engines.map(({ name }) => name)
    const builders = names.map((name) => ({ name, builder: platform.builder }))
    const routers = names.map((name) => ({ name, router: platform.router }))
    restarted = await platform.another({ drivers: { engines, builders, routers } })
    restarted.start()
    assert.equal(await onSecond.status(), 'ONGOING')
    other.resume()
    await onSecond.ends()
    assert.equal(await versionOn(second, onSecond.id), '2')
  })

  /** Waits for the line that the program prints when it starts. */
  const linesOf = (engine: DockerEngine, service: string): Promise<boolean> =>
    until('the line of the program is read', async () => {
      const query = { follow: false }
      for await (const { text } of engine.logs(service, query, limit())) if (text === 'it runs') return true
      return false
    })
})
