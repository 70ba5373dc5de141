import type postgres from 'postgres'

/** What the driver makes of a statement: a promise, and what it settles that with. */
interface Statement extends Promise<unknown> {
  resolve: (result: unknown) => void
}

/**
 * A statement, which gives its rows and no more; anything else as it is. The driver (3.4.9) counts rows by connection, and from 0 only
 * behind a statement that ended well: what comes behind one that failed in the middle of its rows, or lost its connection there, gets
 * as many places with nothing in them before its own rows, without an error.
 */
export function giveWhole<T>(sent: T): T {
  if (!isStatement(sent)) return sent
  const { resolve } = sent
  sent.resolve = (result) => {
    closeUp(result)
    // Several statements in one text have a list of results.
    if (Array.isArray(result)) result.forEach(closeUp)
    resolve(result)
  }
  return sent
}

/** The pool, whose statements outside of transactions give whole results. */
export function withWholeResults(pool: postgres.Sql): postgres.Sql {
  const { unsafe } = pool
  const texts = { unsafe: (...args: Parameters<typeof unsafe>) => giveWhole(unsafe(...args)) }
  return new Proxy(Object.assign(pool, texts), {
    apply: (target, self, args) => giveWhole(Reflect.apply(target, self, args)),
  })
}

const isStatement = (sent: unknown): sent is Statement =>
  sent instanceof Promise && typeof Reflect.get(sent, 'resolve') === 'function'

/** Only rows and places are enumerable in the driver's lists. */
function closeUp(result: unknown): void {
  if (!Array.isArray(result) || result.length === 0 || 0 in result) return
  result.splice(0, result.length - Object.keys(result).length)
}
