import { chmod, mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { start } from '../../server/lib/run.ts'
import { noteLine } from './bugs-in-output.ts'
import { findFreePort } from './free-port.ts'
import { until } from './until.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** How long a start may take at most. */
export const readyMs = 60_000

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A directory and ports that nobody else uses. */
export interface Ground {
  readonly dataDirectory: string
  readonly port: number
  readonly routerPort: number
}

export async function findGround(wanted?: string): Promise<Ground> {
  if (wanted) await mkdir(wanted)
  const dataDirectory = wanted ?? (await mkdtemp(join(tmpdir(), 'quayside-e2e-')))
  // Others may pass through, for PostgreSQL runs as another user where the tests are run by root.
  await chmod(dataDirectory, 0o711)
  return { dataDirectory, port: await findFreePort(), routerPort: await findFreePort() }
}

/**
 * The settings of a server that may send webhooks to this machine and is not limited in how often
 * it is asked.
 */
export const settingsOf = (ground: Ground, engineSocket: string): Record<string, string> => ({
  QUAYSIDE_DATA: ground.dataDirectory,
  QUAYSIDE_PORT: String(ground.port),
  QUAYSIDE_ROUTER_PORT: String(ground.routerPort),
  QUAYSIDE_DOCKER_HOST: `unix://${engineSocket}`,
  QUAYSIDE_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
  QUAYSIDE_RATE_LIMIT: '0',
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(tmpdir(), 'quayside-test-compile-cache'),
})

/**
 * Adds each line of the streams to `output`. Lines that only a bug prints fail the test file, see
 * `noteLine`.
 */
export function watchOutput(streams: readonly (Readable | null)[], output: string[]): void {
  for (const stream of streams) {
    if (!stream) continue
    createInterface({ input: stream }).on('line', (line) => {
      output.push(line)
      noteLine(line)
    })
  }
}

/**
 * Starts `server/main.ts`. Lines of both streams are added to `output`, unless `stdio` says where
 * they go.
 */
export function launchServer(
  env: Readonly<Record<string, string>>,
  output: string[],
  stdio?: Parameters<typeof start>[2]['stdio'],
) {
  const child = start(process.execPath, [join(root, 'server/main.ts')], { cwd: root, env, ...(stdio && { stdio }) })
  const from = output.length
  watchOutput([child.stdout, child.stderr], output)
  const { promise: exit, resolve } = Promise.withResolvers<Exit>()
  // Not `exit`: what it printed last is worth having.
  child.once('close', (code, signal) => resolve({ code, signal }))
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null
  const look = (text: string): boolean => {
    if (isOver()) throw new Error(`the server ended while it started:\n${output.slice(from).join('\n')}`)
    return output.slice(from).some((line) => line.startsWith(text))
  }
  return {
    child,
    exit,
    /**
     * Waits until a line begins so. Throws with everything that was printed when the process ends
     * before.
     */
    printed: (text: string): Promise<true> =>
      until(`the server says "${text}"`, () => look(text), {
        limitMs: readyMs,
        everyMs: 5,
        seen: () => output.slice(-20),
      }),
  }
}
