/** Lets at most so many pieces of work run at the same time; the others wait in the order in which they came. */
export interface Slots {
  run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>
}

export function createSlots(count: number): Slots {
  let free = count
  const waiting: (() => void)[] = []
  const release = (): void => {
    const next = waiting.shift()
    if (next) next()
    else free++
  }
  const acquire = (signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted()
    if (free > 0) {
      free--
      return Promise.resolve()
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const onAbort = (): void => {
      waiting.splice(waiting.indexOf(take), 1)
      reject(signal.reason)
    }
    const take = (): void => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }
    waiting.push(take)
    signal.addEventListener('abort', onAbort, { once: true })
    return promise
  }
  return {
    run: async (signal, work) => {
      await acquire(signal)
      try {
        return await work()
      } finally {
        release()
      }
    },
  }
}
