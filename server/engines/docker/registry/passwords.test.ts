import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, it } from 'node:test'
import { Secret } from '../../../lib/secret.ts'
import { fetchImage } from '../fetch-image.ts'
import { pinImage } from '../pin-image.ts'
import { startTestDocker } from './test-docker.ts'
import { isBlob, openFetchBench, say, status } from './test-fetching.ts'
import { type Misbehaviour, makeImage, startTestRegistry } from './test-registry.ts'

const redirect = (response: ServerResponse, location: string): boolean => {
  response.writeHead(307, { location }).end()
  return true
}
const login = { username: 'robot', password: new Secret('SECRET') }

describe('passwords and tokens', () => {
  const basic = `Basic ${Buffer.from('robot:SECRET').toString('base64')}`
  const wants =
    (challenge: string, right: string): Misbehaviour =>
    (request, response) => {
      if (request.headers.authorization === right || request.url?.startsWith('/token')) return undefined
      response.writeHead(401, { 'www-authenticate': challenge }).end()
      return true
    }

  it('are sent to a registry that requires a password, or exchanged for a token if it requires one', async () => {
    for (const kind of ['basic', 'bearer'] as const) {
      await using bench = await openFetchBench()
      const { registry, docker, name } = bench
      const image = await makeImage()
      registry.put(image, '1')
      const challenge =
        kind === 'basic' ? 'Basic realm="x"' : `Bearer realm="http://${registry.host}/token",service="x",scope="y"`
      const gate = wants(challenge, kind === 'basic' ? basic : 'Bearer t')
      registry.misbehave = (request, response) => {
        if (!request.url?.startsWith('/token')) return gate(request, response)
        response.end(request.headers.authorization === basic ? '{"token":"t"}' : '{}')
        return true
      }
      const { reference } = await pinImage(docker.registries, `${name}:1`, login, docker.attempt)
      await fetchImage(docker.registries, reference, login, docker.attempt)
      await assert.rejects(bench.pin(), { reason: 'image-missing' })
    }
  })

  it('are rejected when the token server redirects or answers without a token', async () => {
    const answers: readonly (readonly [Misbehaviour, RegExp])[] = [
      [(_request, response) => redirect(response, '/elsewhere'), /status 307/],
      [say('{"token":"a\\r\\nb"}'), /answered without a token/],
      [say('{}'), /answered without a token/],
      [say('x'.repeat(2_000_000)), /answered with more than/],
    ]
    for (const [answer, message] of answers) {
      await using bench = await openFetchBench()
      const { registry, docker, name } = bench
      const gate = wants(`Bearer realm="http://${registry.host}/token"`, 'none')
      registry.misbehave = (request, response) =>
        request.url?.startsWith('/token') ? answer(request, response) : gate(request, response)
      await assert.rejects(pinImage(docker.registries, `${name}:1`, login, docker.attempt), { message })
      assert.equal(registry.asked.filter(({ path }) => path === '/elsewhere').length, 0)
    }
  })

  it('are renewed when a token has expired', async () => {
    await using bench = await openFetchBench()
    const { registry } = bench
    const image = await makeImage()
    registry.put(image)
    let given = 0
    registry.misbehave = (request, response) => {
      if (request.url?.startsWith('/token')) return say(`{"token":"t${++given}"}`)(request, response)
      const isRight =
        given > 0 && request.headers.authorization === `Bearer t${given}` && !(isBlob(request.url) && given === 1)
      if (isRight) return undefined
      response.writeHead(401, { 'www-authenticate': `Bearer realm="http://${registry.host}/token"` }).end()
      return true
    }
    await bench.fetch(image)
    assert.equal(given, 2)
  })

  it('are not sent to a mirror, which is asked first; the registry is asked if the mirror fails', async () => {
    const mirror = await startTestRegistry('127.0.0.3')
    const image = await makeImage()
    mirror.put(image, 'latest')
    const asked: string[] = []
    // Only the mirror can be reached: the operator configured it, so no guard is asked.
    await using docker = await startTestDocker({
      info: { RegistryConfig: { Mirrors: [`http://${mirror.host}/`] } },
      allowed: [],
      resolve: async (host) => {
        asked.push(host)
        return ['10.0.0.1']
      },
    })
    try {
      const { reference } = await pinImage(docker.registries, 'nginx', login, docker.attempt)
      assert.equal(reference, `docker.io/library/nginx@${image.digest}`)
      await fetchImage(docker.registries, reference, login, docker.attempt)
      assert.deepEqual(
        mirror.asked.filter(({ authorization }) => authorization !== undefined),
        [],
      )
      assert.deepEqual(asked, [])
      mirror.misbehave = status(500)
      await assert.rejects(pinImage(docker.registries, 'nginx', login, docker.attempt), { reason: 'refused' })
      assert.deepEqual(asked, ['registry-1.docker.io'])
    } finally {
      await mirror.close()
    }
  })
})
