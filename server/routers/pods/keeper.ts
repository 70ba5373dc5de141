import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type KeptHead, type KeptPart, type KeptSlot, keptFiles, keptSlots } from '@quayside/contract/kept-parts.ts'
import { everyOne } from '../../lib/every-one.ts'
import { parseForeign } from '../../lib/foreign-json.ts'
import { createSlots } from '../../lib/slots.ts'
import { findSecret } from './find-secret.ts'
import type { KeptContent } from './kept-content.ts'
import { headSecret, type KeptKind, type PartPlace, partPlaces, partSecret, partSecretName } from './kept-objects.ts'
import { type PodKube, podKinds } from './pod-kube.ts'
import type { RouterObjectSetting } from './router-objects.ts'

/** A Secret has at most 1 MiB. */
const longestBytes = 1024 * 1024 - 1024
/** A longer text is not tried as a whole: it rarely fits. */
const longestWholeText = 8 * 1024 * 1024
/** Requests to the API server at the same time. */
const atOnce = 4

/** The parts in the cluster, by their numbers. */
type KnownParts = readonly KeptPart[]

/**
 * Keeps a document in the cluster. Only parts that have changed are written, each into the place
 * that the head does not name. The head is replaced last, so an end at any moment leaves one whole
 * version.
 */
export class Keeper {
  readonly #kube: PodKube
  readonly #setting: RouterObjectSetting
  readonly #kind: KeptKind
  readonly #longestBytes: number
  /** Undefined: the cluster must be asked. */
  #known: KnownParts | undefined

  constructor(kube: PodKube, setting: RouterObjectSetting, kind: KeptKind, most = longestBytes) {
    this.#kube = kube
    this.#setting = setting
    this.#kind = kind
    this.#longestBytes = most
  }

  /**
   * Keeps a document. Returns false if it is too large. Then the cluster keeps none: routers must
   * not start with an older one.
   */
  async keep(content: KeptContent, signal: AbortSignal): Promise<boolean> {
    const known = this.#known ?? (await this.#read(signal))
    // After a failure nobody knows which requests had an effect.
    this.#known = undefined
    const whole = await wholeOf(content, this.#longestBytes)
    if (whole) {
      await this.#applyHead({ version: content.version, whole }, signal)
      await this.#remove(placesOf(known), signal)
      this.#known = []
      return true
    }
    const next = await this.#writeParts(content.parts(), known, signal)
    const head: KeptHead = { version: content.version, parts: next ?? [] }
    await this.#applyHead({ version: content.version, ...(next && { head: JSON.stringify(head) }) }, signal)
    const isFormer = ({ index, slot }: PartPlace): boolean => next?.[index]?.slot !== slot
    await this.#remove((next ? placesOf(known) : partPlaces).filter(isFormer), signal)
    this.#known = next ?? []
    return next !== undefined
  }

  /** Forgets the parts, so that the cluster is asked again. */
  forget(): void {
    this.#known = undefined
  }

  /** Removes everything. The head is the last one, so that an interrupted call is repeated. */
  async drop(signal: AbortSignal): Promise<void> {
    const { namespace } = this.#setting
    if (!(await findSecret(this.#kube, this.#setting, this.#kind.secret, signal))) return
    this.#known = undefined
    await this.#remove(partPlaces, signal)
    await this.#kube.remove(podKinds.secret, { namespace, name: this.#kind.secret }, signal)
  }

  /** Returns the parts after this. Undefined if one of them is too large. */
  async #writeParts(
    texts: readonly string[],
    known: KnownParts,
    signal: AbortSignal,
  ): Promise<readonly KeptPart[] | undefined> {
    const digests = texts.map((text) => createHash('sha256').update(text).digest('base64url'))
    const next = digests.map((digest, index): KeptPart => {
      const current = known[index]
      return current?.digest === digest ? current : { slot: otherSlot(current?.slot), digest }
    })
    const changed = next.flatMap((part, index) => (part === known[index] ? [] : [{ index, slot: part.slot }]))
    const slots = createSlots(atOnce)
    const isWritten = await everyOne(
      changed.map(({ index, slot }) =>
        slots.run(signal, () => this.#write({ index, slot }, texts[index] ?? '', signal)),
      ),
    )
    return isWritten.every(Boolean) ? next : undefined
  }

  async #write(place: PartPlace, text: string, signal: AbortSignal): Promise<boolean> {
    const content = await promisify(gzip)(text)
    if (content.length > this.#longestBytes) return false
    await this.#kube.apply(partSecret(this.#setting, this.#kind, { ...place, content }), signal)
    return true
  }

  async #applyHead(kept: Parameters<typeof headSecret>[2], signal: AbortSignal): Promise<void> {
    await this.#kube.apply(headSecret(this.#setting, this.#kind, kept), signal)
  }

  async #remove(places: readonly PartPlace[], signal: AbortSignal): Promise<void> {
    const { namespace } = this.#setting
    const slots = createSlots(atOnce)
    const remove = (place: PartPlace) =>
      this.#kube.remove(podKinds.secret, { namespace, name: partSecretName(this.#kind, place) }, signal)
    await everyOne(places.map((place) => slots.run(signal, () => remove(place))))
  }

  async #read(signal: AbortSignal): Promise<KnownParts> {
    const found = await findSecret(this.#kube, this.#setting, this.#kind.secret, signal)
    const head = found?.data?.[keptFiles.head]
    return head === undefined ? [] : partsIn(Buffer.from(head, 'base64').toString())
  }
}

/** Returns the compressed document, unless it is too large for one Secret. */
async function wholeOf(content: KeptContent, most: number): Promise<Buffer | undefined> {
  const text = content.whole()
  if (text.length > longestWholeText) return undefined
  const whole = await promisify(gzip)(text)
  return whole.length <= most ? whole : undefined
}

const otherSlot = (slot: KeptSlot | undefined): KeptSlot => (slot === 'a' ? 'b' : 'a')

const placesOf = (known: KnownParts): readonly PartPlace[] => known.map(({ slot }, index) => ({ index, slot }))

/** The people of a cluster may change its Secrets. A head that is not ours names no parts. */
function partsIn(text: string): KnownParts {
  try {
    const { parts } = Object(parseForeign(Buffer.from(text)))
    if (!Array.isArray(parts)) return []
    return parts.map((part): KeptPart => {
      const slot = keptSlots.find((one) => one === Object(part).slot)
      if (slot === undefined) throw new Error('no such slot')
      return { slot, digest: String(Object(part).digest) }
    })
  } catch {
    return []
  }
}
