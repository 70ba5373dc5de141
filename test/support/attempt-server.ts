import { join } from 'node:path'
import { findPostmaster } from '../../server/database/postmaster.ts'
import { killGroup } from '../../server/lib/run.ts'
import { findRouter } from '../../server/routers/own/find-router.ts'
import { usualSocket } from './engine-view.ts'
import { type Exit, findGround, launchServer, readyMs, settingsOf } from './launch-server.ts'
import { startTidying } from './tidying.ts'

export interface Attempted extends Exit {
  readonly output: string
  /** The processes that the server left running, before the test ended them. */
  readonly left: readonly ('PostgreSQL' | 'router')[]
}

/**
 * Starts a server that is expected to exit by itself and waits for that. It has a directory of its
 * own unless `env` names one.
 */
export async function attemptServer(env: Readonly<Record<string, string>>): Promise<Attempted> {
  const ground = await findGround()
  const { dataDirectory } = ground
  const tidying = startTidying(dataDirectory)
  const output: string[] = []
  const { child, exit } = launchServer({ ...settingsOf(ground, usualSocket), ...env }, output)
  tidying.note('server', child.pid)
  AbortSignal.timeout(readyMs).addEventListener('abort', () => killGroup(child))
  const ended = await exit
  const left: Attempted['left'][number][] = []
  if (await findPostmaster(join(dataDirectory, 'postgresql', 'cluster'))) left.push('PostgreSQL')
  if (await findRouter({ controlSocket: join(dataDirectory, 'router', 'control.sock') })) left.push('router')
  await tidying.finish()
  return { ...ended, output: output.join('\n'), left }
}
