/**
 * Values that are remembered for their owners. Each owner has a limited number: a new value takes
 * the place of the owner's oldest, never of another owner's.
 */
export class OwnedMap<V> {
  readonly #most: number
  readonly #owners = new Map<string, Map<string, V>>()

  constructor(most: number) {
    this.#most = most
  }

  get(owner: string, name: string): V | undefined {
    return this.#owners.get(owner)?.get(name)
  }

  /** Adds a value, or replaces the one of this name. */
  set(owner: string, name: string, value: V): void {
    const values = this.#owners.get(owner) ?? new Map<string, V>()
    const [oldest] = values.keys()
    if (oldest !== undefined && values.size >= this.#most && !values.has(name)) values.delete(oldest)
    this.#owners.set(owner, values.set(name, value))
  }
}
