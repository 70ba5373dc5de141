import type postgres from 'postgres'

/** The driver's statement: a promise and its resolver. */
interface Statement extends Promise<unknown> {
  resolve: (result: unknown) => void
}

/**
 * Returns a statement that only returns its own rows, and any other value unchanged. The driver
 * (3.4.9) counts rows by connection and resets the count only after a successful statement. After a
 * statement that failed in the middle of its rows, or lost its connection there, the next result
 * would begin with as many empty places, without an error.
 */
export function giveWhole<T>(sent: T): T {
  if (!isStatement(sent)) return sent
  const { resolve } = sent
  sent.resolve = (result) => {
    closeUp(result)
    // Several statements in one text return a list of results.
    if (Array.isArray(result)) result.forEach(closeUp)
    resolve(result)
  }
  return sent
}

/** Returns the pool with complete results of statements outside transactions. */
export function withWholeResults(pool: postgres.Sql): postgres.Sql {
  const { unsafe } = pool
  const texts = { unsafe: (...args: Parameters<typeof unsafe>) => giveWhole(unsafe(...args)) }
  return new Proxy(Object.assign(pool, texts), {
    apply: (target, self, args) => giveWhole(Reflect.apply(target, self, args)),
  })
}

const isStatement = (sent: unknown): sent is Statement =>
  sent instanceof Promise && typeof Reflect.get(sent, 'resolve') === 'function'

/** Only rows and empty places are enumerable in the driver's lists. */
function closeUp(result: unknown): void {
  if (!Array.isArray(result) || result.length === 0 || 0 in result) return
  result.splice(0, result.length - Object.keys(result).length)
}
