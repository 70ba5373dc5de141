/**
 * Lets several callers share the runs of one piece of work. At most one run is in progress. A
 * caller that comes during a run shares the next one, so every caller gets a run that began after
 * its call. A caller whose signal is aborted gets its reason at once, and the run continues for the
 * others.
 */
export function createSharedCall<T>(work: () => Promise<T>): (signal: AbortSignal) => Promise<T> {
  let running: Promise<T> | undefined
  let next: Promise<T> | undefined
  const start = (): Promise<T> => {
    running = work().finally(() => {
      running = undefined
    })
    return running
  }
  const startNext = (): Promise<T> => {
    next = undefined
    return start()
  }
  const join = (): Promise<T> => {
    if (!running) return start()
    next ??= running.then(startNext, startNext)
    return next
  }
  return (signal) => {
    signal.throwIfAborted()
    return unlessAborted(join(), signal)
  }
}

async function unlessAborted<T>(run: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([run, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
