/** Lets at most so many pieces of work run at the same time. Those who wait have turns: one of each owner, each owner's in their order. */
export interface Slots {
  run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>
  /** Waits for a slot; whoever has it gives it back by disposing of it. `owner`: for whom; those who name none are one owner. */
  take(signal: AbortSignal, owner?: string): Promise<Disposable>
  /** A slot that is free at this moment. */
  takeNow(): Disposable | undefined
}

export function createSlots(count: number): Slots {
  let free = count
  const turns = createTurns<() => void>()
  const slot = (): Disposable => {
    let isHeld = true
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return
        isHeld = false
        const next = turns.next()
        if (next) next()
        else free++
      },
    }
  }
  const takeNow = (): Disposable | undefined => {
    if (free === 0) return undefined
    free--
    return slot()
  }
  const take = (signal: AbortSignal, owner = ''): Promise<Disposable> => {
    signal.throwIfAborted()
    const now = takeNow()
    if (now) return Promise.resolve(now)
    const { promise, resolve, reject } = Promise.withResolvers<Disposable>()
    const onAbort = (): void => {
      turns.remove(owner, onTurn)
      reject(signal.reason)
    }
    const onTurn = (): void => {
      signal.removeEventListener('abort', onAbort)
      resolve(slot())
    }
    turns.add(owner, onTurn)
    signal.addEventListener('abort', onAbort, { once: true })
    return promise
  }
  return {
    take,
    takeNow,
    run: async (signal, work) => {
      using _ = await take(signal)
      return await work()
    },
  }
}

/** Who waits, by owner. Whose turn it was goes behind all other owners. */
function createTurns<T>() {
  const waiting = new Map<string, T[]>()
  return {
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
    next: (): T | undefined => {
      const [first] = waiting
      if (!first) return undefined
      const [owner, [one, ...left]] = first
      waiting.delete(owner)
      if (left.length > 0) waiting.set(owner, left)
      return one
    },
  }
}
