import type { Observation } from '../engines/index.ts'
import { isSame, type WishRow } from './observation-store.ts'

export type Seen = ReadonlyMap<string, Observation>

/** One look at an engine. */
export interface Look {
  readonly signal: AbortSignal
  /** The marks of the routes of services at that time. */
  readonly routes: ReadonlyMap<string, string>
  /** All observations, if the look was at everything. */
  readonly all?: Seen
  /** The services for which nothing has to be written, as far as this is known. */
  readonly carried?: ReadonlySet<string>
}

/** The desired state and the observation of one service. */
export interface Found {
  readonly wish: WishRow
  readonly judged: Observation
  readonly look: Look
  /** Why it cannot be reached, in words for people. */
  readonly trouble: string | undefined
}

/** What was found at the last look that found it. */
interface Settled {
  readonly wish: WishRow
  /** The mark of its routes. */
  readonly routes: string | undefined
  readonly trouble: string | undefined
  /** The observation of the engine, if the look was at everything. */
  readonly seen: Observation | undefined
  /** The desired state and the observation as text, for comparison. */
  readonly words: string
}

/**
 * Services whose last observation is stored and that need no repair. While that stays the same,
 * there is nothing to write.
 */
export class SettledServices {
  readonly #all = new Map<string, Settled>()

  /** Returns whether neither this look nor the desired state differs from when it settled. */
  isStill(wish: WishRow, { all, routes }: Look, trouble: string | undefined): boolean {
    const known = this.#all.get(wish.id)
    if (!known?.seen || known.seen !== all?.get(wish.id)) return false
    return known.routes === routes.get(wish.id) && known.trouble === trouble && isSame(known.wish, wish)
  }

  /** Returns whether the same was found before. If so, remembers this look. */
  isKnown(found: Found): boolean {
    const words = wordsOf(found)
    const isKnown = this.#all.get(found.wish.id)?.words === words
    if (isKnown) this.#all.set(found.wish.id, settled(found, words))
    return isKnown
  }

  settle(found: Found): void {
    this.#all.set(found.wish.id, settled(found, wordsOf(found)))
  }

  has(serviceId: string): boolean {
    return this.#all.has(serviceId)
  }

  forget(serviceId: string): void {
    this.#all.delete(serviceId)
  }

  /** Forgets services for which `isThere` returns false. */
  keepOnly(isThere: (serviceId: string) => boolean): void {
    for (const id of this.#all.keys()) if (!isThere(id)) this.#all.delete(id)
  }
}

const settled = ({ wish, look, trouble }: Found, words: string): Settled => ({
  wish,
  routes: look.routes.get(wish.id),
  trouble,
  seen: look.all?.get(wish.id),
  words,
})

const wordsOf = ({ wish, judged, look }: Found): string =>
  JSON.stringify([wish.release_id, wish.replicas, look.routes.get(wish.id), judged])
