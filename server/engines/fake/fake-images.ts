import { createHash } from 'node:crypto'
import type { Attempt } from '../../lib/attempt.ts'
import { type EngineDisk, EngineError, type PinnedImage, type RegistryLogin } from '../engine.ts'

/** Images in memory, and the only registry of the world, which has an image under every tag. */
export class FakeImages {
  /** False: the registry is unreachable; fetched images remain. */
  registryIsThere = true
  /** The password that the registry requires; undefined: it is open to all. */
  password: string | undefined
  /** References fetched from the registry, one for each fetch. */
  readonly fetched: string[] = []
  readonly #there = new Set<string>()
  /** Images built on the engine: name with tag → id. */
  readonly #made = new Map<string, string>()
  /** Reference → the name with the tag from which it was pinned. */
  readonly #named = new Map<string, string>()
  readonly #pushes = new Map<string, number>()

  /** Pushes another image under the name and tag. */
  push(image: string): void {
    this.#pushes.set(image, (this.#pushes.get(image) ?? 0) + 1)
  }

  /** Creates an image on the engine itself. */
  make(image: string): void {
    const id = digestOf(`made ${image}`)
    this.#made.set(image, id)
    this.#named.set(id, image)
    this.#there.add(id)
  }

  /** Removes the image behind the engine's back. */
  remove(reference: string): void {
    this.#there.delete(reference)
  }

  /** The size of the build cache. */
  cacheBytes = 0
  /** Images of other builds, as `disk` reports them. */
  readonly built: EngineDisk['images'][number][] = []

  /** A disk of a million bytes; every fetched image takes a thousand. */
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
    output.line(`${failed.message} The image of that name on the engine is used instead.`, 'warning')
    return { reference: id, digest: id, isThere: true, namedBy: 'engine' }
  }

  fetch(reference: string, login: RegistryLogin | undefined): void {
    if (this.#there.has(reference)) return
    const failed = this.#refusal(reference, !reference.includes('@sha256:'), login)
    if (failed) throw failed
    this.#there.add(reference)
    this.fetched.push(reference)
  }

  /** Returns the name with the tag from which a reference was pinned. */
  tagOf(reference: string): string | undefined {
    return this.#named.get(reference)
  }

  #refusal(image: string, isMissing: boolean, login: RegistryLogin | undefined): EngineError | undefined {
    const failed = `The image ${image} cannot be fetched: the registry`
    if (!this.registryIsThere) return new EngineError('registry-away', `${failed} cannot be reached.`)
    if (this.password !== undefined && login?.password.reveal() !== this.password) {
      return new EngineError('image-missing', `${failed} does not give access. Check the user name and password.`)
    }
    return isMissing ? new EngineError('image-missing', `${failed} has no image with that name and tag.`) : undefined
  }
}

const digestOf = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`
