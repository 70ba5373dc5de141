import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:net'
import { type Clock, systemClock } from '../lib/clock.ts'

/**
 * Runs `work` while no other process of this machine runs work under the same name. The lock is a
 * listening socket in Linux' abstract namespace. It is taken atomically, and the kernel releases it
 * however the process ends, so it is never stale.
 */
export async function exclusively<T>(
  name: string,
  work: () => Promise<T>,
  options: { readonly signal?: AbortSignal; readonly clock?: Clock } = {},
): Promise<T> {
  const clock = options.clock ?? systemClock
  let lock = await tryLock(name)
  while (!lock) {
    await clock.sleep(20, options.signal)
    lock = await tryLock(name)
  }
  try {
    return await work()
  } finally {
    lock.close()
  }
}

/**
 * Returns the lock if it is free, else undefined. `close` releases it. It does not keep the process
 * alive. Locks of several parts of one thing are independent of each other and of the whole one's,
 * and the kernel lists them under one beginning (bootstrap/lock-holder.mjs).
 */
export async function tryLock(name: string, part?: number): Promise<Server | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Server | undefined>()
  const server = createServer((socket) => socket.destroy())
  server.once('error', (error: NodeJS.ErrnoException) =>
    error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
  )
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 32)
  const suffix = part === undefined ? '' : `.${part}`
  server.listen({ path: `\0quayside-${digest}${suffix}` }, () => resolve(server))
  server.unref()
  return promise
}
