import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * The first and the last port that are tried. Linux takes ports of outgoing connections from 32768
 * on. A port that the system selects could therefore be in use by another program's connection
 * before its server listens.
 */
const [first, last] = [16_384, 32_767]
const attempts = 100

/** Returns a port of 127.0.0.1 on which nothing listens, below those of outgoing connections. */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const port = randomInt(first, last + 1)
    if (await isFree(port)) return port
  }
  throw new Error(`No free port was found between ${first} and ${last} in ${attempts} attempts.`)
}

async function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const server = createServer().once('error', () => resolve(false))
  server.listen(port, () => server.close(() => resolve(true)))
  return promise
}
