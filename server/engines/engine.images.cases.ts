import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Secret } from '../lib/secret.ts'
import type { Engine, RegistryLogin } from './engine.ts'

/** An engine with a registry of the test's own that requires a password. */
export interface ImagesBench {
  readonly engine: Engine
  readonly login: RegistryLogin
  /** `host/name:tag` in the registry. */
  image(tag: string): string
  /** Pushes a new image under the tag; the engine has none of its layers. */
  push(tag: string): Promise<void>
  /** Creates an image on the engine itself, under the name it would have in the registry. */
  make(tag: string): Promise<void>
  /** Takes the registry offline, or brings it back. */
  goAway(): Promise<void>
  comeBack(): Promise<void>
  close(): Promise<void>
}

/** The image suite for every engine. */
export function engineImagesCases(name: string, open: () => Promise<ImagesBench>, skip: string | false = false): void {
  describe(`images of engine ${name}`, { skip }, () => {
    let bench: ImagesBench
    before(async () => {
      bench = await open()
    })
    after(() => bench?.close())
    const attempt = (lines: string[] = []) => ({
      signal: AbortSignal.timeout(60_000),
      output: { line: (text: string) => void lines.push(text) },
    })
    const pin = (tag: string, login: RegistryLogin | undefined = bench.login) =>
      bench.engine.pinImage(bench.image(tag), login, attempt())

    it('pins a tag to a digest and fetches the image once', async () => {
      await bench.push('1')
      const pinned = await pin('1')
      assert.match(pinned.digest, /^sha256:[0-9a-f]{64}$/)
      const repository = bench.image('1').slice(0, -':1'.length)
      assert.deepEqual(pinned, {
        reference: `${repository}@${pinned.digest}`,
        digest: pinned.digest,
        isThere: false,
        namedBy: 'registry',
      })
      const lines: string[] = []
      await bench.engine.fetchImage(pinned.reference, bench.login, attempt(lines))
      await bench.engine.fetchImage(pinned.reference, bench.login, attempt(lines))
      assert.ok(lines.length <= 3, `few lines tell of it: ${lines.join(' | ')}`)
      assert.deepEqual(await pin('1'), { ...pinned, isThere: true })
      assert.deepEqual(await bench.engine.pinImage(pinned.reference, undefined, attempt()), {
        ...pinned,
        isThere: true,
      })
    })

    it('returns a new digest when the tag moved, and still fetches the previous image by its digest', async () => {
      await bench.push('2')
      const former = await pin('2')
      await bench.push('2')
      const next = await pin('2')
      assert.notEqual(next.digest, former.digest)
      await bench.engine.fetchImage(former.reference, bench.login, attempt())
      await bench.engine.fetchImage(next.reference, bench.login, attempt())
      assert.equal((await bench.engine.pinImage(former.reference, undefined, attempt())).isThere, true)
    })

    it('reports the missing image and its registry', async () => {
      const image = `${bench.image('1').slice(0, -':1'.length)}:none`
      await assert.rejects(bench.engine.pinImage(image, bench.login, attempt()), (error: Error) => {
        assert.ok(error.message.includes(image), error.message)
        assert.match(error.message, /registry .*has no image with that name and tag/)
        return Object(error).reason === 'image-missing'
      })
    })

    it('rejects a request without the password, even if the engine has the image', async () => {
      await bench.push('3')
      const { reference } = await pin('3')
      await bench.engine.fetchImage(reference, bench.login, attempt())
      for (const login of [undefined, { username: bench.login.username, password: new Secret('wrong') }]) {
        await assert.rejects(bench.engine.pinImage(bench.image('3'), login, attempt()), {
          reason: 'image-missing',
          message: /does not give access.*Check the user name and password/,
        })
      }
    })

    it('reports the size of an image, removes it, and reports false when it is already removed', async () => {
      await bench.push('5')
      const { reference } = await pin('5')
      await bench.engine.fetchImage(reference, bench.login, attempt())
      const { images, totalBytes, freeBytes } = await bench.engine.disk(AbortSignal.timeout(60_000))
      assert.ok(totalBytes > 0 && freeBytes >= 0 && freeBytes <= totalBytes)
      const [found] = images.filter(({ references }) => references.includes(reference))
      assert.ok(found && found.bytes > 0 && found.services.length === 0, JSON.stringify(found))
      for (let times = 0; times < 2; times++) {
        assert.equal(await bench.engine.removeImage(reference, AbortSignal.timeout(60_000)), true)
      }
      assert.equal((await pin('5')).isThere, false)
    })

    it('uses an image built on the engine, or an image fetched before, while the registry is away', async () => {
      await bench.push('4')
      const fetched = await pin('4')
      await bench.engine.fetchImage(fetched.reference, bench.login, attempt())
      await bench.make('local')
      await bench.goAway()
      try {
        const lines: string[] = []
        const pinned = await bench.engine.pinImage(bench.image('local'), bench.login, attempt(lines))
        assert.equal(pinned.namedBy, 'engine')
        assert.equal(pinned.reference, pinned.digest, 'no registry knows it: it is pinned by its id')
        assert.match(lines.join(), /cannot be reached.*The image of that name on the engine is used instead/)
        await bench.engine.fetchImage(pinned.reference, undefined, attempt())
        await bench.engine.fetchImage(fetched.reference, undefined, attempt())
      } finally {
        await bench.comeBack()
      }
    })
  })
}
