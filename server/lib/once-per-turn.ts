/**
 * Shares work between callers with the same key in one turn of the event loop. The work starts at the end of the turn,
 * after its last caller asked, and each caller gets the same result or error. Later callers start it again.
 */
export function oncePerTurn<Result>(): (key: string, work: () => Promise<Result>) => Promise<Result> {
  const open = new Map<string, Promise<Result>>()
  return (key, work) => {
    const shared = open.get(key)
    if (shared) return shared
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    open.set(key, promise)
    setImmediate(() => {
      open.delete(key)
      work().then(resolve, reject)
    })
    return promise
  }
}
