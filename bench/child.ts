import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { killGroup, start } from '../server/lib/run.ts'
import type { Session } from './figure.ts'
import { until } from './until.ts'

/**
 * Starts a program (a path from bench/) with this Node and waits until it listens. It ends with the
 * session.
 */
export async function startChild(
  { ending }: Session,
  program: string,
  args: readonly string[],
  port: number,
  limitMs = 30_000,
): Promise<void> {
  const path = fileURLToPath(new URL(program, import.meta.url))
  const folder = await mkdtemp(join(tmpdir(), 'quayside-bench-child-'))
  // Output goes to a file: reading a pipe would cost the measuring process time.
  const logFile = join(folder, 'log')
  const log = await open(logFile, 'a')
  const child = start(process.execPath, [path, ...args], { stdio: ['ignore', log.fd, log.fd] })
  await log.close()
  ending.defer(async () => {
    killGroup(child)
    await rm(folder, { recursive: true, force: true })
  })
  await until(
    `${program} listens`,
    async () => {
      if (child.exitCode !== null) throw new Error(`${program} ended:\n${await readFile(logFile, 'utf8')}`)
      return await isListening(port)
    },
    { limitMs },
  )
}

async function isListening(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = createConnection(port, '127.0.0.1')
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}
