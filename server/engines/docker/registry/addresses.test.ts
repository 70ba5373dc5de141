import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { selfSigned } from '../../../../test/support/self-signed.ts'
import { fetchImage } from '../fetch-image.ts'
import { pinImage } from '../pin-image.ts'
import { authoritiesOf } from './places.ts'
import { startTestDocker } from './test-docker.ts'
import { openFetchBench } from './test-fetching.ts'
import { makeImage, startTestRegistry } from './test-registry.ts'

describe('addresses of registries', () => {
  it('are checked for every request, even if a name meanwhile resolves elsewhere', async () => {
    const registry = await startTestRegistry()
    const canary = await startTestRegistry('127.0.0.2')
    const port = registry.host.split(':')[1]
    const host = `rebound.example:${port}`
    const answers = ['127.0.0.1']
    await using docker = await startTestDocker({
      resolve: async () => [answers.shift() ?? '127.0.0.2'],
      info: { RegistryConfig: { IndexConfigs: { [host]: { Secure: false } } } },
      allowed: ['127.0.0.1/32'],
    })
    try {
      const image = await makeImage()
      for (const one of [registry, canary]) one.put(image, '1')
      // https, then http.
      answers.push('127.0.0.1')
      const { reference } = await pinImage(docker.registries, `${host}/team/web:1`, undefined, docker.attempt)
      await assert.rejects(fetchImage(docker.registries, reference, undefined, docker.attempt), { reason: 'refused' })
      assert.equal(registry.asked.length, 1)
      assert.deepEqual(canary.asked, [])
      answers.push('127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.1')
      await fetchImage(docker.registries, reference, undefined, docker.attempt)
    } finally {
      await registry.close()
      await canary.close()
    }
  })

  it('that are private are rejected without a connection, and the error names the setting that allows them', async () => {
    await using bench = await openFetchBench({ allowed: [] })
    await assert.rejects(bench.pin(), { reason: 'refused', message: /not fetched.*QUAYSIDE_ALLOW_PRIVATE_TARGETS/ })
    assert.deepEqual(bench.registry.asked, [])
    assert.deepEqual(bench.docker.waited, [], 'it will not get better')
  })

  it('use plain http only if the operator configured it in Docker', async () => {
    await using bench = await openFetchBench({ info: { RegistryConfig: { InsecureRegistryCIDRs: [] } } })
    await assert.rejects(bench.pin(), { message: /did not present a trusted certificate/ })
    assert.deepEqual(bench.registry.asked, [])
  })

  it('other than the registry’s own are never requested over plain http', async () => {
    await using bench = await openFetchBench({ allowed: ['127.0.0.1/32'] })
    bench.registry.misbehave = (_request, response) => {
      response.writeHead(307, { location: 'http://198.51.100.1/x' }).end()
      return true
    }
    await assert.rejects(bench.pin(), { reason: 'refused' })
  })
})

it('accepts certificates of an authority that the operator configured in Docker', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-certs-'))
  try {
    assert.equal(await authoritiesOf('registry.example:5000', directory), undefined)
    await mkdir(join(directory, 'registry.example:5000'))
    await writeFile(join(directory, 'registry.example:5000', 'ca.crt'), selfSigned.cert)
    await writeFile(join(directory, 'registry.example:5000', 'client.key'), 'not read')
    const found = (await authoritiesOf('registry.example:5000', directory)) ?? []
    assert.ok(found.length > 1 && found.includes(selfSigned.cert))
    assert.ok(!found.includes('not read'))
  } finally {
    await rm(directory, { recursive: true })
  }
})
