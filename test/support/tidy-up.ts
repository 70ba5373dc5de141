import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { frontFiles } from '../../router/front/front-files.ts'
import { findHaproxy } from '../../router/front/start-haproxy.ts'
import { findPostmaster, stopPostmaster } from '../../server/database/postmaster.ts'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { run } from '../../server/lib/run.ts'
import { findRouter } from '../../server/routers/own/find-router.ts'
import { viewEngine } from './engine-view.ts'

/**
 * Runs beside a test as a separate process. It starts when its standard input ends, also because
 * the test's process died. It ends what still runs from the directory (server, router, HAProxy,
 * PostgreSQL) and removes the engine objects of the server. Then it ends a private engine and
 * removes the directory. Lines on standard input say what exists: `server <pid>`, `member
 * <number>:<pid>`, `engine <socket>`, `instance <name>`, `service <id>`, `daemon <pid>`, `bridge
 * <name>`.
 */
async function tidyUp(directory: string): Promise<void> {
  const facts = (await text(process.stdin)).split('\n').map((line) => line.split(' '))
  const all = (kind: string): string[] => facts.flatMap(([name, value]) => (name === kind && value ? [value] : []))
  await endProcess(all('server').at(-1))
  // Of several servers, the last process of each. Earlier ids may belong to other programs now.
  const members = new Map(
    all('member')
      .map((value) => value.split(':'))
      .map(([name, pid]) => [name, pid]),
  )
  for (const pid of members.values()) await endProcess(pid)
  const controlSocket = join(directory, 'router', 'control.sock')
  const router = await findRouter({ controlSocket }).catch(() => undefined)
  await endProcess(router?.pid)
  const front = await findHaproxy(frontFiles(controlSocket)).catch(() => undefined)
  await endProcess(front?.pid)
  const cluster = join(directory, 'postgresql', 'cluster')
  const postmaster = await findPostmaster(cluster)
  if (postmaster) await stopPostmaster(postmaster.pid, cluster, clock)
  const instance = all('instance').at(-1)
  if (instance) await viewEngine(all('engine').at(-1)).removeInstallation(instance, all('service'))
  const daemon = all('daemon').at(-1)
  if (daemon) await endEngine(daemon, directory)
  const bridge = all('bridge').at(-1)
  if (bridge) await run('ip', ['link', 'delete', bridge], { timeoutMs: 10_000 })
  await rm(directory, { recursive: true, force: true, maxRetries: 5 })
}

/** Ends a private engine. Its containerd outlives it and is ended too. */
async function endEngine(daemon: string, directory: string): Promise<void> {
  await endProcess(daemon, 'SIGTERM')
  await endProcess(await readFile(join(directory, 'exec/containerd/containerd.pid'), 'utf8').catch(() => undefined))
  const names = await bridgesOf(join(directory, 'data/network/files/local-kv.db'))
  for (const name of names) await run('ip', ['link', 'delete', name], { timeoutMs: 10_000 })
  const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n').map((line) => line.split(' ')[1] ?? '')
  const ours = mounts.filter((path) => path.startsWith(`${directory}/`)).reverse()
  for (const path of ours) await run('umount', ['--lazy', path], { timeoutMs: 10_000 })
}

/**
 * Lists the bridges of an engine's networks from its store. They outlive the engine and keep their
 * subnets. Some may be gone. Their names are hashes, so that no other engine has them.
 */
async function bridgesOf(store: string): Promise<Set<string>> {
  const text = await readFile(store, 'latin1').catch(() => '')
  return new Set(text.match(/\b(?:qs|br)-[0-9a-f]{12}\b/g))
}

async function endProcess(pid: string | number | undefined, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (!pid) return
  try {
    process.kill(Number(pid), signal)
    for (const end = clock.monotonic() + 15_000; clock.monotonic() < end; await clock.sleep(10)) {
      const stat = await readFile(`/proc/${Number(pid)}/stat`, 'utf8')
      // The process has ended, but its parent may not have reaped it yet.
      if (/\) [ZX] /.test(stat)) return
    }
    process.kill(Number(pid), 'SIGKILL')
  } catch {
    // The process has already ended.
  }
}

const given = process.argv[2]
if (import.meta.main && given) await tidyUp(given)
