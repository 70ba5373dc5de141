import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { localName } from './local-name.ts'
import { pinImage } from './pin-image.ts'
import { openFetchBench, say, status } from './registry/test-fetching.ts'
import { makeImage, sha256 } from './registry/test-registry.ts'

describe('resolving a tag', () => {
  it('retries an unavailable registry at growing intervals, and continues when it is back', async () => {
    await using bench = await openFetchBench()
    const { registry, docker, name } = bench
    const image = await makeImage()
    registry.put(image, '1')
    let left = 3
    registry.misbehave = (request, response) => (left-- > 0 ? status(503)(request, response) : undefined)
    assert.deepEqual(await bench.pin(), {
      reference: `${name}@${image.digest}`,
      digest: image.digest,
      isThere: false,
      namedBy: 'registry',
    })
    assert.deepEqual(docker.waited, [1000, 2000, 4000])
    assert.match(
      docker.lines[0] ?? '',
      /^The image .*\/team\/web:1 .*cannot be reached \(status 503.*Trying again in 1 s\.$/,
    )
  })

  const refusals: readonly (readonly [string, number, number, RegExp])[] = [
    ['registry-away', 503, 6, /cannot be reached.*Check that it runs/],
    ['registry-away', 429, 6, /received too many requests.*later/],
    ['image-missing', 401, 1, /does not give access.*user name and password/],
    ['image-missing', 403, 1, /does not give access.*user name and password/],
    ['image-missing', 404, 1, /no image with that name and tag.*Correct them/],
    ['image-missing', 418, 1, /the registry .* said: status 418/],
  ]
  for (const [reason, code, times, sentence] of refusals) {
    it(`stops after ${times} request(s) when the registry answers ${code}`, async () => {
      await using bench = await openFetchBench()
      bench.registry.misbehave = status(code, 'of \u0007the registry')
      await assert.rejects(bench.pin(), (error: Error) => {
        assert.equal(Object(error).reason, reason, error.message)
        assert.match(error.message, sentence)
        assert.ok(error.message.includes(`${bench.name}:1`) && !error.message.includes('\u0007'), error.message)
        return true
      })
      assert.equal(bench.registry.asked.length, times)
    })
  }

  it('reads the manifest if the registry sends no digest header', async () => {
    await using bench = await openFetchBench()
    const image = await makeImage()
    bench.registry.put(image, '1')
    bench.registry.misbehave = (request, response) =>
      request.method === 'HEAD' ? say('')(request, response) : undefined
    assert.equal((await bench.pin()).digest, image.digest)
  })

  it('treats a silent registry as away', async () => {
    await using bench = await openFetchBench()
    const id = sha256('x')
    bench.docker.images.set(`${bench.name}:1`, { Id: id, RepoDigests: null })
    bench.registry.misbehave = () => true
    const pinning = bench.pin()
    bench.docker.passSilence()
    assert.deepEqual(await pinning, { reference: id, digest: id, isThere: true, namedBy: 'engine' })
    assert.match(bench.docker.lines.join(), /it sent nothing for 90 s/)
  })

  it('never uses a local image from a registry that now denies access, or one built for a service', async () => {
    await using bench = await openFetchBench()
    const { docker, name } = bench
    bench.registry.misbehave = status(401)
    const Id = sha256('x')
    const others = [
      { Id, RepoDigests: [`${name}@${Id}`] },
      { Id, RepoTags: [localName(`${name}@${Id}`)] },
      { Id, Config: { Labels: { 'quayside.service': 'x' } } },
    ]
    for (const found of others) {
      docker.images.set(`${name}:1`, found)
      await assert.rejects(bench.pin(), { reason: 'image-missing' })
    }
    docker.images.set(`${name}:1`, { Id, RepoDigests: [] })
    assert.equal((await bench.pin()).reference, Id)
  })

  it('sends no request for an invalid name, or for a name that the engine itself assigns', async () => {
    await using bench = await openFetchBench()
    const names = ['a/../../containers/json?x:1', 'x y:1', 'A/b:1', '--privileged:1', 'a@sha256:zz', 'a:b/c:1']
    const own = [
      `fetched.quayside.invalid/${bench.name.replace(':', '_')}:1`,
      'fetched.quayside.invalid:1/a:1',
      'x.INVALID/a',
    ]
    for (const name of [...names, ...own]) {
      await assert.rejects(
        pinImage(bench.docker.registries, name, undefined, bench.docker.attempt),
        { reason: 'refused' },
        name,
      )
    }
    assert.equal(bench.registry.asked.length, 0)
  })
})

describe('a host that URLs do not read as it is written', () => {
  for (const host of [
    '1.2.3.999',
    'registry.example:99999',
    '[:::1]:5000',
    'team.123',
    '0x7f.1:5000',
    '2130706433:5000',
    'registry.example:0443',
  ]) {
    it(`is rejected without any request: ${host}`, async () => {
      await using bench = await openFetchBench()
      const pinned = pinImage(bench.docker.registries, `${host}/team/web:1`, undefined, bench.docker.attempt)
      await assert.rejects(pinned, (error: Error) => {
        assert.equal(Object(error).reason, 'refused', error.message)
        assert.match(error.message, /is not the address of a host\. Correct the host and port/)
        return true
      })
      assert.deepEqual(bench.docker.lines, [])
    })
  }
})
