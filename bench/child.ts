import { createConnection } from 'node:net'
import { fileURLToPath } from 'node:url'
import { killGroup, start } from '../server/lib/run.ts'
import type { Session } from './figure.ts'
import { until } from './until.ts'

/** Starts one of our programs (a path from bench/) with this Node, and waits until it listens. It ends with the session. */
export async function startChild(
  { ending }: Session,
  program: string,
  args: readonly string[],
  port: number,
): Promise<void> {
  const path = fileURLToPath(new URL(program, import.meta.url))
  const child = start(process.execPath, [path, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-4000)
  })
  ending.defer(async () => killGroup(child))
  await until(`${program} listens`, async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended: ${said}`)
    return await isListening(port)
  })
}

async function isListening(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = createConnection(port, '127.0.0.1')
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}
