/**
 * Shares out a limited quantity, such as calls or bytes. An owner gets more only if it then holds
 * no more than the remainder. So no owner takes everything: the first gets at most half, and some
 * is always left for the next one.
 */
export interface Shares {
  /**
   * `path`: the owners from the largest to the smallest, such as an organization and one of its
   * callers. Returns the function that returns the amount, or undefined if one of them holds too
   * much.
   */
  take(path: readonly string[], amount?: number): (() => void) | undefined
}

export function createShares(size: number): Shares {
  const held = new Map<string, number>()
  let free = size
  const change = (names: readonly string[], by: number): void => {
    free -= by
    for (const name of names) {
      const now = (held.get(name) ?? 0) + by
      if (now === 0) held.delete(name)
      else held.set(name, now)
    }
  }
  return {
    take(path, amount = 1) {
      const names = path.map((_, index) => path.slice(0, index + 1).join(' '))
      const rest = names.reduce((left, name) => left - (held.get(name) ?? 0) - amount, free - amount)
      if (rest < 0) return undefined
      change(names, amount)
      let isHeld = true
      return () => {
        if (isHeld) change(names, -amount)
        isHeld = false
      }
    },
  }
}
