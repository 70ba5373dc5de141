import { monotonic } from './clock.ts'
import { OwnedMap } from './owned-map.ts'

/** What a pot holds at most, and what it gains each second. */
export interface PotSize {
  readonly burst: number
  readonly perSecond: number
}

interface Pot {
  left: number
  at: number
}

/** Pots of tokens by owner and name. Each owner has at most `most` of them. */
export class Pots {
  readonly #size: PotSize
  readonly #pots: OwnedMap<Pot>

  constructor(size: PotSize, most: number) {
    this.#size = size
    this.#pots = new OwnedMap(most)
  }

  /** Whether a pot has a token now. */
  has(owner: string, name: string): boolean {
    const pot = this.#pots.get(owner, name)
    return pot === undefined || this.#fill(pot) >= 1
  }

  /** Takes one token. */
  take(owner: string, name: string): void {
    const pot = this.#pots.get(owner, name) ?? { left: this.#size.burst, at: monotonic() }
    this.#pots.set(owner, name, pot)
    this.#fill(pot)
    pot.left--
  }

  /** Returns a token that was taken. */
  giveBack(owner: string, name: string): void {
    const pot = this.#pots.get(owner, name)
    if (pot) pot.left++
  }

  #fill(pot: Pot): number {
    const now = monotonic()
    pot.left = Math.min(this.#size.burst, pot.left + ((now - pot.at) / 1000) * this.#size.perSecond)
    pot.at = now
    return pot.left
  }
}
