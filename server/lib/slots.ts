/**
 * Limits how many pieces of work run at the same time. Waiting work runs round-robin across owners,
 * in order for each owner. An owner without a slot may also use the reserve, so no other owner can
 * block it by holding all slots.
 */
export interface Slots {
  run<T>(signal: AbortSignal, work: () => Promise<T>, owner?: string): Promise<T>
  /**
   * Waits for a slot. The holder returns it by disposing of it. `owner`: for whom; work without an
   * owner counts as one owner.
   */
  take(signal: AbortSignal, owner?: string): Promise<Disposable>
  /** Returns a slot if one is free now. */
  takeNow(owner?: string): Disposable | undefined
}

export interface SlotLimits {
  /** Slots beyond `count` for owners that hold none. */
  readonly reserve?: number
  /** Slots that one owner may hold; all of them if undefined. */
  readonly perOwner?: number
  /** Pieces of work of one owner that may wait; `take` rejects more with `TooManyWaiting`. */
  readonly mostWaiting?: number
}

/** The queue of the owner is full. */
export class TooManyWaiting extends Error {
  override readonly name = 'TooManyWaiting'
}

export function createSlots(count: number, limits: SlotLimits = {}): Slots {
  const { reserve = 0, perOwner = count + reserve, mostWaiting = Infinity } = limits
  let taken = 0
  const held = new Map<string, number>()
  const turns = createTurns<() => void>()
  const mayTake = (owner: string): boolean => {
    const own = held.get(owner) ?? 0
    return own < perOwner && taken < (own === 0 ? count + reserve : count)
  }
  const slot = (owner: string): Disposable => {
    let isHeld = true
    taken++
    held.set(owner, (held.get(owner) ?? 0) + 1)
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return
        isHeld = false
        taken--
        const left = (held.get(owner) ?? 0) - 1
        if (left > 0) held.set(owner, left)
        else held.delete(owner)
        turns.next(mayTake)?.()
      },
    }
  }
  const takeNow = (owner = ''): Disposable | undefined => (mayTake(owner) ? slot(owner) : undefined)
  const take = (signal: AbortSignal, owner = ''): Promise<Disposable> => {
    signal.throwIfAborted()
    const now = takeNow(owner)
    if (now) return Promise.resolve(now)
    if (turns.count(owner) >= mostWaiting) return Promise.reject(new TooManyWaiting('too much waits for a slot'))
    const { promise, resolve, reject } = Promise.withResolvers<Disposable>()
    const onAbort = (): void => {
      turns.remove(owner, onTurn)
      reject(signal.reason)
    }
    const onTurn = (): void => {
      signal.removeEventListener('abort', onAbort)
      resolve(slot(owner))
    }
    turns.add(owner, onTurn)
    signal.addEventListener('abort', onAbort, { once: true })
    return promise
  }
  return {
    take,
    takeNow,
    run: async (signal, work, owner) => {
      using _ = await take(signal, owner)
      return await work()
    },
  }
}

/** Waiting work by owner. After its turn an owner goes to the end of the queue. */
function createTurns<T>() {
  const waiting = new Map<string, T[]>()
  return {
    count: (owner: string): number => waiting.get(owner)?.length ?? 0,
    add: (owner: string, one: T): void => {
      const own = waiting.get(owner)
      if (own) own.push(one)
      else waiting.set(owner, [one])
    },
    remove: (owner: string, one: T): void => {
      const left = waiting.get(owner)?.filter((other) => other !== one) ?? []
      if (left.length > 0) waiting.set(owner, left)
      else waiting.delete(owner)
    },
    /** Returns the next waiter whose owner may have a turn now. */
    next: (mayHave: (owner: string) => boolean): T | undefined => {
      const first = [...waiting].find(([owner]) => mayHave(owner))
      if (!first) return undefined
      const [owner, [one, ...left]] = first
      waiting.delete(owner)
      if (left.length > 0) waiting.set(owner, left)
      return one
    },
  }
}
