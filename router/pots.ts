import { monotonic } from './clock.ts'

/** What a pot holds at most, and what it gains each second. */
export interface PotSize {
  readonly burst: number
  readonly perSecond: number
}

interface Pot {
  left: number
  at: number
}

/**
 * Pots of tokens by owner and name. Each owner has a limited number: a new one takes the place of
 * the owner's oldest, never of another owner's.
 */
export class Pots {
  readonly #size: PotSize
  readonly #most: number
  readonly #owners = new Map<string, Map<string, Pot>>()

  constructor(size: PotSize, most: number) {
    this.#size = size
    this.#most = most
  }

  /** Whether a pot has a token now. */
  has(owner: string, name: string): boolean {
    const pot = this.#owners.get(owner)?.get(name)
    return pot === undefined || this.#fill(pot) >= 1
  }

  /** Takes one token. */
  take(owner: string, name: string): void {
    const pots = this.#owners.get(owner) ?? new Map<string, Pot>()
    this.#owners.set(owner, pots)
    const [oldest] = pots.keys()
    const known = pots.get(name)
    if (!known && oldest !== undefined && pots.size >= this.#most) pots.delete(oldest)
    const pot = known ?? { left: this.#size.burst, at: monotonic() }
    pots.set(name, pot)
    this.#fill(pot)
    pot.left--
  }

  /** Returns a token that was taken. */
  giveBack(owner: string, name: string): void {
    const pot = this.#owners.get(owner)?.get(name)
    if (pot) pot.left++
  }

  #fill(pot: Pot): number {
    const now = monotonic()
    pot.left = Math.min(this.#size.burst, pot.left + ((now - pot.at) / 1000) * this.#size.perSecond)
    pot.at = now
    return pot.left
  }
}
