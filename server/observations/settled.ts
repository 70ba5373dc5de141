import type { Observation } from '../engines/index.ts'
import { isSame, type WishRow } from './observation-store.ts'

export type Seen = ReadonlyMap<string, Observation>

/** One look at what runs. */
export interface Look {
  readonly signal: AbortSignal
  /** The version of the routes at that time. */
  readonly routes: number
  /** What was seen of everything, where everything was looked at. */
  readonly all?: Seen
}

/** What was wished and seen of one service. */
export interface Found {
  readonly wish: WishRow
  readonly judged: Observation
  readonly look: Look
  /** What keeps it from being reached, in words for people. */
  readonly trouble: string | undefined
}

/** By the last look by which it was so. */
interface Settled extends Found {
  /** What was seen and wished, in words. */
  readonly words: string
}

/**
 * Services of which what was seen is carried over to their rows, and nothing is to be done: while
 * that stays the same there is nothing to write.
 */
export class SettledServices {
  readonly #all = new Map<string, Settled>()

  /** Whether it is as it was by this very look, and nothing else is wished of it since. */
  isStill(wish: WishRow, { all, routes }: Look, trouble: string | undefined): boolean {
    const known = this.#all.get(wish.id)
    if (known?.look.all !== all || known?.look.routes !== routes || known.trouble !== trouble) return false
    return isSame(known.wish, wish)
  }

  /** Whether the same was found before, as it was settled; notes by which look it was so. */
  isKnown(found: Found): boolean {
    const words = wordsOf(found)
    const isKnown = this.#all.get(found.wish.id)?.words === words
    if (isKnown) this.#all.set(found.wish.id, { ...found, words })
    return isKnown
  }

  settle(found: Found): void {
    this.#all.set(found.wish.id, { ...found, words: wordsOf(found) })
  }

  forget(serviceId: string): void {
    this.#all.delete(serviceId)
  }

  /** Forgets those that are not there any more. */
  keepOnly(isThere: (serviceId: string) => boolean): void {
    for (const id of this.#all.keys()) if (!isThere(id)) this.#all.delete(id)
  }
}

const wordsOf = ({ wish, judged, look }: Found): string =>
  JSON.stringify([wish.release_id, wish.replicas, look.routes, judged])
