import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { engineForTests } from '../../builders/docker/engine-for-tests.ts'
import { createAddressGuard } from '../../lib/address.ts'
import { systemClock } from '../../lib/clock.ts'
import { newId } from '../../lib/id.ts'
import { Secret } from '../../lib/secret.ts'
import { DockerEngine } from './docker-engine.ts'
import { type Misbehaviour, makeImage, startTestRegistry, type TestRegistry } from './registry/test-registry.ts'
import { removeImagesOf } from './test-push.ts'

const { socketPath, skip } = await engineForTests()

/** The registry is at an allowed address. It redirects to a neighbour at a forbidden one. */
describe('a registry that redirects elsewhere', { skip }, () => {
  const guard = createAddressGuard({ allowedPrivateCidrs: ['127.0.0.1/32'] })
  const engine = new DockerEngine({ socketPath, instance: `test-${newId().slice(-8)}`, clock: systemClock, guard })
  const login = { username: 'robot', password: new Secret('SECRET-REGISTRY') }
  let registry: TestRegistry
  let canary: TestRegistry
  before(async () => {
    registry = await startTestRegistry()
    canary = await startTestRegistry('127.0.0.2')
  })
  after(async () => {
    await removeImagesOf(socketPath, registry.host)
    await registry.close()
    await canary.close()
  })

  async function bring(misbehave: Misbehaviour): Promise<string> {
    const image = await makeImage({ config: { created: new Date().toISOString() } })
    for (const one of [registry, canary]) one.put(image, '1')
    registry.misbehave = misbehave
    canary.asked.length = 0
    const lines: string[] = []
    const attempt = { signal: AbortSignal.timeout(60_000), output: { line: (text: string) => void lines.push(text) } }
    const bringing = async (): Promise<void> => {
      const { reference } = await engine.pinImage(`${registry.host}/team/web:1`, login, attempt)
      await engine.fetchImage(reference, login, attempt)
    }
    return bringing().then(
      () => 'it was fetched',
      (error: Error) => error.message,
    )
  }
  const leadTo =
    (pattern: RegExp, status: number): Misbehaviour =>
    (request, response) => {
      if (!pattern.test(request.url ?? '')) return undefined
      response.writeHead(status, { location: `http://${canary.host}${request.url}` }).end()
      return true
    }
  const demand =
    (realm: () => string): Misbehaviour =>
    (_request, response) => {
      response.writeHead(401, { 'www-authenticate': `Bearer realm="${realm()}",service="x"` }).end()
      return true
    }

  const attacks: Readonly<Record<string, Misbehaviour>> = {
    'for tokens': demand(() => `http://${canary.host}/token`),
    'for tokens, by another spelling': demand(() => `http://[::ffff:127.0.0.2]:${canary.host.split(':')[1]}/token`),
    'for its API': leadTo(/\/v2\/$/, 307),
    'for manifests': leadTo(/\/manifests\//, 307),
    'for blobs': leadTo(/\/blobs\//, 307),
    'for blobs, with 302': leadTo(/\/blobs\//, 302),
  }
  for (const [name, misbehave] of Object.entries(attacks)) {
    it(`${name} never causes a request to a forbidden address`, async () => {
      const ended = await bring(misbehave)
      assert.deepEqual(canary.asked, [], ended)
      if (name !== 'for its API') assert.match(ended, /not fetched|must not receive it/)
    })
  }

  it('in a circle is abandoned after a few redirects', async () => {
    const before = registry.asked.length
    const circle: Misbehaviour = (request, response) => {
      response.writeHead(307, { location: `http://${registry.host}${request.url}` }).end()
      return true
    }
    assert.match(await bring(circle), /redirects more than 5 times/)
    assert.ok(registry.asked.length - before <= 20)
  })

  it('receives no password after a redirect, not even its own', async () => {
    registry.asked.length = 0
    const ended = await bring((request, response) => {
      if (request.url?.includes('?again')) return undefined
      if (request.headers.authorization === undefined) {
        response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
      } else response.writeHead(307, { location: `${request.url}?again` }).end()
      return true
    })
    const again = registry.asked.filter(({ path }) => path.includes('?again'))
    assert.ok(again.length > 0, ended)
    assert.deepEqual(
      again.flatMap(({ authorization }) => authorization ?? []),
      [],
    )
  })
})
