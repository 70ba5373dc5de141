/** The place of a workflow that waits for one again. */
interface Waiter {
  readonly id: string
  readonly owner: string
  readonly served: () => void
}

/** How the places are divided. */
export interface PlaceLimits {
  readonly all: number
  readonly perOwner: number
  /** Places that only owners without a place may take again in order. */
  readonly reserve: number
  /** Places of the reserve that nobody takes again in order. */
  readonly platformReserve: number
}

/**
 * The places of the workflows that one process runs. A workflow that only waits leaves its place,
 * and takes it again at once or in order. `onLeft` is called when a place becomes free.
 */
export class Places {
  readonly #limits: PlaceLimits
  readonly #onLeft: () => void
  /** Owners by the id of the workflow. */
  readonly #holders = new Map<string, string>()
  #waiting: readonly Waiter[] = []

  constructor(limits: PlaceLimits, onLeft: () => void) {
    this.#limits = limits
    this.#onLeft = onLeft
  }

  /** Places for workflows that begin. 0 also if more are taken than exist. */
  get free(): number {
    return Math.max(0, this.#limits.all - this.#holders.size)
  }

  /** Takes a place, even if none is free. May be repeated. */
  take(id: string, owner: string): void {
    this.#holders.set(id, owner)
    const [served, waiting] = partition(this.#waiting, (waiter) => waiter.id === id)
    this.#waiting = waiting
    for (const waiter of served) waiter.served()
  }

  leave(id: string): void {
    if (!this.#holders.delete(id)) return
    for (;;) {
      const next = nextWaiter(this.#waiting, [...this.#holders.values()], this.#limits)
      if (!next) break
      this.take(next.id, next.owner)
    }
    this.#onLeft()
  }

  /**
   * Waits for a place, before workflows that begin. Owners with few places come first. Returns also
   * when the signal is aborted, without a place.
   */
  async takeInOrder(id: string, owner: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#holders.has(id)) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiter = { id, owner, served: resolve }
    this.#waiting = [...this.#waiting, waiter]
    const next = nextWaiter(this.#waiting, [...this.#holders.values()], this.#limits)
    if (next) this.take(next.id, next.owner)
    const onAbort = (): void => resolve()
    signal.addEventListener('abort', onAbort, { once: true })
    await promise
    signal.removeEventListener('abort', onAbort)
    this.#waiting = this.#waiting.filter((one) => one !== waiter)
  }
}

/** Returns the waiter that gets a place now: of the owner with the fewest, the first one. */
export function nextWaiter<T extends { readonly owner: string }>(
  waiting: readonly T[],
  owners: readonly string[],
  { all, perOwner, reserve, platformReserve }: PlaceLimits,
): T | undefined {
  const held = Map.groupBy(owners, (owner) => owner)
  const heldBy = ({ owner }: T): number => held.get(owner)?.length ?? 0
  const [first] = waiting.filter((one) => heldBy(one) < perOwner).sort((a, b) => heldBy(a) - heldBy(b))
  if (!first) return undefined
  return owners.length < all - (heldBy(first) === 0 ? platformReserve : reserve) ? first : undefined
}

const partition = <T>(list: readonly T[], test: (one: T) => boolean): [T[], T[]] => [
  list.filter(test),
  list.filter((one) => !test(one)),
]
