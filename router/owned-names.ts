/**
 * Names that are remembered for their owners. Each owner has a limited number: a new name takes the
 * place of the owner's oldest, never of another owner's.
 */
export class OwnedNames {
  readonly #most: number
  readonly #owners = new Map<string, Set<string>>()

  constructor(most: number) {
    this.#most = most
  }

  has(owner: string, name: string): boolean {
    return this.#owners.get(owner)?.has(name) ?? false
  }

  add(owner: string, name: string): void {
    const names = this.#owners.get(owner) ?? new Set()
    const [oldest] = names
    if (oldest !== undefined && names.size >= this.#most) names.delete(oldest)
    this.#owners.set(owner, names.add(name))
  }
}
