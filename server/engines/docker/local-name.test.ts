import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseReference } from './image-reference.ts'
import { fetchedAs, localName } from './local-name.ts'

const hex = 'a'.repeat(64)

describe('names of fetched images', () => {
  it('convert back to the fetched reference, whatever the host', () => {
    for (const name of [
      'docker.io/library/nginx',
      'ghcr.io/team/web',
      '127.0.0.1:5000/a/b',
      'localhost:5000/a',
      'Registry.Example.COM/a',
      '[::1]:5000/a',
      'a--b.example:1/x__y/z-z',
    ]) {
      const local = localName(`${name}@sha256:${hex}`)
      assert.equal(fetchedAs(local), `${name}@sha256:${hex}`)
      assert.match(
        local,
        /^fetched\.quayside\.invalid\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*\/[a-z0-9/._-]+:sha256-a{64}$/,
      )
    }
  })

  it('are short for Docker Hub, and the same for all spellings of it', () => {
    assert.equal(localName(`nginx@sha256:${hex}`), `fetched.quayside.invalid/docker.io/library/nginx:sha256-${hex}`)
    assert.equal(localName(`index.docker.io/library/nginx@sha256:${hex}`), localName(`nginx@sha256:${hex}`))
  })

  it('are distinct from all other names', () => {
    const others = [
      'nginx:1',
      `quayside/x:sha256-${hex}`,
      `fetched.quayside.invalid/a:sha256-${hex}`,
      'fetched.quayside.invalid/a/b:1',
    ]
    for (const tag of others) assert.equal(fetchedAs(tag), undefined, tag)
  })

  it('are rejected without a digest or if they are too long', () => {
    assert.throws(() => localName('nginx:1'), /is not pinned/)
    assert.throws(() => localName(`ghcr.io/${'a'.repeat(240)}@sha256:${hex}`), /too long/)
  })

  it('are different for different images', () => {
    const host = fc.stringMatching(/^[a-zA-Z0-9]{1,4}(?:[.-][a-zA-Z0-9]{1,3}){0,2}\.[a-zA-Z]{1,2}(?::[0-9]{1,3})?$/)
    const path = fc.stringMatching(/^[a-z0-9]{1,3}(?:(?:\/|_|__|-)[a-z0-9]{1,2}){0,2}$/)
    fc.assert(
      fc.property(host, path, (h, p) => {
        const reference = `${h}/${p}@sha256:${hex}`
        const { name } = parseReference(reference)
        assert.equal(fetchedAs(localName(reference)), `${name}@sha256:${hex}`)
      }),
    )
  })
})

describe('references', () => {
  it('are parsed as Docker does', () => {
    const parts = (text: string) => Object.values(parseReference(text)).map((part) => part ?? '-')
    const digest = `sha256:${hex}`
    assert.deepEqual(parts('postgres:16'), ['docker.io', 'docker.io/library/postgres', '16', '-'])
    assert.deepEqual(parts('team/web:1'), ['docker.io', 'docker.io/team/web', '1', '-'])
    assert.deepEqual(parts('localhost:5000/a/b:1'), ['localhost:5000', 'localhost:5000/a/b', '1', '-'])
    assert.deepEqual(parts(`127.0.0.1:5000/a@${digest}`), ['127.0.0.1:5000', '127.0.0.1:5000/a', '-', digest])
    assert.deepEqual(parts('ghcr.io/a:b'), ['ghcr.io', 'ghcr.io/a', 'b', '-'])
  })
})
