/** Lets at most so many pieces of work run at the same time; the others wait in the order in which they came. */
export interface Slots {
  run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>
  /** Waits for a slot; whoever has it gives it back by disposing of it. */
  take(signal: AbortSignal): Promise<Disposable>
  /** A slot that is free at this moment. */
  takeNow(): Disposable | undefined
}

export function createSlots(count: number): Slots {
  let free = count
  const waiting: (() => void)[] = []
  const slot = (): Disposable => {
    let isHeld = true
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return
        isHeld = false
        const next = waiting.shift()
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
  const take = (signal: AbortSignal): Promise<Disposable> => {
    signal.throwIfAborted()
    const now = takeNow()
    if (now) return Promise.resolve(now)
    const { promise, resolve, reject } = Promise.withResolvers<Disposable>()
    const onAbort = (): void => {
      waiting.splice(waiting.indexOf(onTurn), 1)
      reject(signal.reason)
    }
    const onTurn = (): void => {
      signal.removeEventListener('abort', onAbort)
      resolve(slot())
    }
    waiting.push(onTurn)
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
