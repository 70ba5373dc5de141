import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { findPostmaster, stopPostmaster } from '../../server/database/postmaster.ts'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { findRouter } from '../../server/routers/own/router-process.ts'
import { viewEngine } from './engine-view.ts'

/**
 * Runs beside the server of a test, as a process of its own. When whoever started it closes its standard input, or dies, it ends
 * what is left of the server (itself, router, PostgreSQL), removes what it made in the engine, and its data directory. Lines on
 * standard input tell what there is: `server <pid>`, `engine <socket>`, `instance <name>`, `service <id>`.
 */
async function tidyUp(dataDirectory: string): Promise<void> {
  const facts = (await text(process.stdin)).split('\n').map((line) => line.split(' '))
  const all = (kind: string): string[] => facts.flatMap(([name, value]) => (name === kind && value ? [value] : []))
  const pid = all('server').at(-1)
  if (pid) await endProcess(Number(pid))
  const router = await findRouter({ controlSocket: join(dataDirectory, 'router', 'control.sock') }).catch(
    () => undefined,
  )
  if (router) await endProcess(router.pid)
  const cluster = join(dataDirectory, 'postgresql', 'cluster')
  const postmaster = await findPostmaster(cluster)
  if (postmaster) await stopPostmaster(postmaster.pid, cluster, clock)
  const instance = all('instance').at(-1)
  const engine = viewEngine(all('engine').at(-1))
  if (instance) await engine.removeInstallation(instance, all('service'))
  await rm(dataDirectory, { recursive: true, force: true, maxRetries: 5 })
}

/** Only while it is the process that was started: `kill` of a pid that is gone does nothing. */
async function endProcess(pid: number): Promise<void> {
  try {
    process.kill(pid, 'SIGKILL')
    for (const end = clock.monotonic() + 5000; clock.monotonic() < end; await clock.sleep(10)) process.kill(pid, 0)
  } catch {
    // It is gone.
  }
}

const directory = process.argv[2]
if (import.meta.main && directory) await tidyUp(directory)
