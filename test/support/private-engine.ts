import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mendNetworkStore } from '../../bootstrap/network-store.mjs'
import { run, start } from '../../server/lib/run.ts'
import { viewEngine } from './engine-view.ts'
import { startTidying } from './tidying.ts'
import { until } from './until.ts'

/** A Docker Engine of a test's own, which may be killed and stopped. */
export interface PrivateEngine {
  readonly socketPath: string
  /** The directory of its data. */
  readonly dataRoot: string
  kill9(): Promise<void>
  /** Starts it again after it was killed, and waits until it answers. */
  start(): Promise<void>
  /** The process stands still until it is continued. */
  pause(): void
  resume(): void
  close(): Promise<void>
}

const program = '/usr/sbin/dockerd'
const ip = '/usr/sbin/ip'

/** Why there can be none here; undefined where there can. */
export async function whyNoPrivateEngine(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'an engine of its own needs root'
  for (const needed of [program, ip]) {
    if (!(await stat(needed).catch(() => undefined))) return `an engine of its own needs ${needed}`
  }
  return undefined
}

/**
 * With a bridge of its own and without rules in the packet filter, so that it shares nothing with the machine's engine: told to
 * have no bridge, it would remove the other one's. Containers reach each other and are reached from here, but not the world;
 * they outlive the engine. `diskMiB`: it has a disk of that size for itself.
 */
export async function startPrivateEngine(options: { readonly diskMiB?: number } = {}): Promise<PrivateEngine> {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-engine-'))
  const at = (name: string): string => join(directory, name)
  const tidying = startTidying(directory)
  await writeFile(at('daemon.json'), '{}')
  if (options.diskMiB !== undefined) await mountDisk(at('data'), options.diskMiB)
  const bridge = `quay-test${process.pid % 100_000}`
  tidying.note('bridge', bridge)
  await addBridge(bridge)
  const network = [`--bridge=${bridge}`, '--iptables=false', '--ip-masq=false', '--live-restore']
  const places = ['--data-root', at('data'), '--exec-root', at('exec'), '--pidfile', at('docker.pid')]
  const files = ['--host', `unix://${at('docker.sock')}`, '--config-file', at('daemon.json')]
  const engine = viewEngine(at('docker.sock'))

  const launch = async () => {
    const child = start(program, [...network, ...places, ...files], { cwd: '/', stdio: 'ignore' })
    const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()))
    tidying.note('daemon', child.pid)
    await until('the engine answers', () =>
      engine.ask('GET', '/version').catch(() => {
        if (child.exitCode !== null) throw new Error(`${program} ended with code ${child.exitCode}`)
        return undefined
      }),
    )
    return { child, ended }
  }
  let running = await launch().catch(async (error: unknown) => {
    await tidying.finish()
    throw error
  })
  return {
    socketPath: engine.socketPath,
    dataRoot: at('data'),
    kill9: async () => {
      running.child.kill('SIGKILL')
      await running.ended
    },
    start: async () => {
      const forget = () => forgetEnded(at('exec/containerd/containerd.pid'))
      await forget()
      running = await launch().catch(async () => {
        // Its containerd may have died only after that, or it died while it removed a network.
        await forget()
        mendNetworkStore(at('data'))
        return await launch()
      })
    },
    pause: () => void running.child.kill('SIGSTOP'),
    resume: () => void running.child.kill('SIGCONT'),
    close: () => tidying.finish(),
  }
}

/** What died with the engine stays in the table of processes until somebody collects it: a new engine would wait for it in vain. */
async function forgetEnded(pidFile: string): Promise<void> {
  const pid = await readFile(pidFile, 'utf8').catch(() => undefined)
  const stat = pid && (await readFile(`/proc/${Number(pid)}/stat`, 'utf8').catch(() => undefined))
  if (!stat || /\) [ZX] /.test(stat)) await rm(pidFile, { force: true })
}

/** A disk of its own, which can be filled. */
async function mountDisk(path: string, sizeMiB: number): Promise<void> {
  await mkdir(path)
  const args = ['-t', 'tmpfs', '-o', `size=${sizeMiB}m`, 'quayside-test', path]
  const { exitCode, stderr } = await run('mount', args, { timeoutMs: 5000 })
  if (exitCode !== 0) throw new Error(`mount ${args.join(' ')}: ${stderr}`)
}

async function addBridge(name: string): Promise<void> {
  await change('link', 'add', 'name', name, 'type', 'bridge')
  await change('address', 'add', '10.251.251.1/24', 'dev', name)
  await change('link', 'set', name, 'up')
}

async function change(...args: readonly string[]): Promise<void> {
  const { exitCode, stderr } = await run(ip, args, { timeoutMs: 5000 })
  if (exitCode !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr}`)
}
