/**
 * A limited number of places that owners share. Nothing is reserved: one owner may have all of them
 * while no other wants one. If none is free, the owner with most has to give one to a newcomer that
 * would then have no more.
 */
export class SharedPlaces {
  readonly #most: number
  readonly #held = new Map<string, number>()
  #total = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Returns how many places are taken. */
  get size(): number {
    return this.#total
  }

  /** Whether the caller may take a place, and which owner has to give one first. */
  roomFor(owner: string): { readonly isFree: boolean; readonly from?: string } {
    if (this.#total < this.#most) return { isFree: true }
    let [from, most] = ['', (this.#held.get(owner) ?? 0) + 1]
    for (const [each, held] of this.#held) if (held > most) [from, most] = [each, held]
    return from === '' ? { isFree: false } : { isFree: true, from }
  }

  take(owner: string): void {
    this.#total++
    this.#held.set(owner, (this.#held.get(owner) ?? 0) + 1)
  }

  release(owner: string): void {
    const left = (this.#held.get(owner) ?? 0) - 1
    this.#total--
    if (left > 0) this.#held.set(owner, left)
    else this.#held.delete(owner)
  }
}
