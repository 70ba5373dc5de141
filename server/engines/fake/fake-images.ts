import { createHash } from 'node:crypto'
import type { Attempt } from '../../lib/attempt.ts'
import { type EngineDisk, EngineError, type PinnedImage, type RegistryLogin } from '../engine.ts'

/** Images in memory, and the one registry of the world, which has an image under every tag that is asked for. */
export class FakeImages {
  /** False: the registry answers nobody; what was fetched is there still. */
  registryIsThere = true
  /** Without it the registry gives nothing; undefined: it is open to all. */
  password: string | undefined
  /** References that were got from the registry, each time anew. */
  readonly fetched: string[] = []
  readonly #there = new Set<string>()
  /** Images that came from no registry: name with tag → id. */
  readonly #made = new Map<string, string>()
  /** Reference → the name with the tag that it was asked for by. */
  readonly #named = new Map<string, string>()
  readonly #pushes = new Map<string, number>()

  /** Somebody pushes another image under the name and tag. */
  push(image: string): void {
    this.#pushes.set(image, (this.#pushes.get(image) ?? 0) + 1)
  }

  /** Somebody makes an image on the engine itself. */
  make(image: string): void {
    const id = digestOf(`made ${image}`)
    this.#made.set(image, id)
    this.#named.set(id, image)
    this.#there.add(id)
  }

  /** The image goes from the engine without its knowing. */
  remove(reference: string): void {
    this.#there.delete(reference)
  }

  /** What builds kept. */
  cacheBytes = 0
  /** Images that other builds made, as `disk` tells them. */
  readonly built: EngineDisk['images'][number][] = []

  /** A disk of a million bytes, of which every image that was fetched takes a thousand. */
  disk(others: Pick<EngineDisk, 'volumes' | 'layers' | 'runs'>): EngineDisk {
    const fetched = [...this.#there].map((reference) => ({
      references: [reference],
      services: [],
      bytes: 1000,
      createdAt: new Date(0),
    }))
    const buildCache = { bytes: this.cacheBytes, freeableBytes: this.cacheBytes }
    return {
      totalBytes: 1_000_000,
      freeBytes: 500_000,
      images: [...fetched, ...this.built],
      ...others,
      buildCache,
    }
  }

  trimCache(keepBytes: number): number {
    const freed = Math.max(0, this.cacheBytes - keepBytes)
    this.cacheBytes -= freed
    return freed
  }

  /** The references that the engine has. */
  references(): string[] {
    return [...this.#there]
  }

  pin(image: string, isMissing: boolean, login: RegistryLogin | undefined, { output }: Attempt): PinnedImage {
    const pinned = /sha256:[0-9a-f]{64}$/.exec(image)?.[0]
    if (pinned) return { reference: image, digest: pinned, isThere: this.#there.has(image), namedBy: 'registry' }
    const failed = this.#refusal(image, isMissing, login)
    if (!failed) {
      const digest = digestOf(`${image} ${this.#pushes.get(image) ?? 0}`)
      const reference = `${image.slice(0, image.lastIndexOf(':'))}@${digest}`
      this.#named.set(reference, image)
      return { reference, digest, isThere: this.#there.has(reference), namedBy: 'registry' }
    }
    const id = this.#made.get(image)
    if (!id) throw failed
    output.line(`${failed.message} The engine has an image of that name, which is used.`, 'warning')
    return { reference: id, digest: id, isThere: true, namedBy: 'engine' }
  }

  fetch(reference: string, login: RegistryLogin | undefined): void {
    if (this.#there.has(reference)) return
    const failed = this.#refusal(reference, !reference.includes('@sha256:'), login)
    if (failed) throw failed
    this.#there.add(reference)
    this.fetched.push(reference)
  }

  /** The name with the tag that a pinned reference was asked for by. */
  tagOf(reference: string): string | undefined {
    return this.#named.get(reference)
  }

  #refusal(image: string, isMissing: boolean, login: RegistryLogin | undefined): EngineError | undefined {
    const failed = `The image ${image} cannot be fetched: the registry`
    if (!this.registryIsThere) return new EngineError('registry-away', `${failed} cannot be reached.`)
    if (this.password !== undefined && login?.password.reveal() !== this.password) {
      return new EngineError('image-missing', `${failed} does not give access. Check the user name and password.`)
    }
    return isMissing ? new EngineError('image-missing', `${failed} has none of that name and tag.`) : undefined
  }
}

const digestOf = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`
