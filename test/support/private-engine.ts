import { mkdir, mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mendNetworkStore } from '../../bootstrap/network-store.mjs'
import { run, start } from '../../server/lib/run.ts'
import { viewEngine } from './engine-view.ts'
import { findProgram } from './find-program.ts'
import { startTidying } from './tidying.ts'
import { until } from './until.ts'

/** A Docker Engine for one test, which the test can kill and pause. */
export interface PrivateEngine {
  readonly socketPath: string
  /** The directory of the engine's data. */
  readonly dataRoot: string
  kill9(): Promise<void>
  /** Starts the engine after a kill and waits until it answers. */
  start(): Promise<void>
  /** Suspends the process until `resume`. */
  pause(): void
  resume(): void
  close(): Promise<void>
}

const program = '/usr/sbin/dockerd'
const ip = '/usr/sbin/ip'

/** Returns why no private engine can run here, or undefined if it can. */
export async function whyNoPrivateEngine(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'a private engine needs root'
  for (const needed of [program, ip]) {
    if (!(await stat(needed).catch(() => undefined))) return `a private engine needs ${needed}`
  }
  return undefined
}

/** Returns why no engine can keep its data on btrfs here, or undefined if it can. */
export async function whyNoBtrfsEngine(): Promise<string | undefined> {
  const why = await whyNoPrivateEngine()
  if (why) return why
  if (!(await findProgram('mkfs.btrfs')))
    return 'mkfs.btrfs is not installed: apt-get install btrfs-progs, or let npm test fetch it'
  if (!(await stat('/dev/loop-control').catch(() => undefined))) return 'a disk in a file needs /dev/loop-control'
  // btrfs may be a module. If it cannot be loaded, the list below shows that.
  await run('modprobe', ['btrfs'], { timeoutMs: 5000 }).catch(() => undefined)
  const known = await readFile('/proc/filesystems', 'utf8')
  return /\tbtrfs$/m.test(known) ? undefined : 'the kernel of this machine has no btrfs'
}

/**
 * Starts an engine with its own bridge and no packet filter rules, so that it shares nothing with
 * the machine's engine. Without a bridge of its own it would remove the other engine's. Containers
 * reach each other and this machine reaches them, but they cannot reach other networks. They
 * outlive the engine. `diskMiB` gives the engine a disk of that size. `btrfsMiB` does the same with
 * btrfs and Docker's driver for it. `inodes` gives it 1 GiB of ext4 with that many inodes.
 */
export async function startPrivateEngine(
  options: { readonly diskMiB?: number; readonly btrfsMiB?: number; readonly inodes?: number } = {},
): Promise<PrivateEngine> {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-engine-'))
  const at = (name: string): string => join(directory, name)
  const tidying = startTidying(directory)
  await writeFile(at('daemon.json'), '{}')
  if (options.diskMiB !== undefined) await mountDisk(at('data'), options.diskMiB)
  if (options.btrfsMiB !== undefined) await mountBtrfs(at('disk'), at('data'), options.btrfsMiB)
  if (options.inodes !== undefined) await mountExt4(at('disk'), at('data'), options.inodes)
  const bridge = `quay-test${process.pid % 100_000}`
  tidying.note('bridge', bridge)
  await addBridge(bridge)
  // Two engines that create networks at the same time choose the same one, and the machine then
  // reaches the containers of one of them only.
  const pool = ['--default-address-pool', `base=10.${poolOf(process.pid)}.0.0/16,size=24`]
  const network = [`--bridge=${bridge}`, '--iptables=false', '--ip-masq=false', '--live-restore', ...pool]
  const storage = options.btrfsMiB === undefined ? [] : ['--storage-driver', 'btrfs']
  const places = [...storage, '--data-root', at('data'), '--exec-root', at('exec'), '--pidfile', at('docker.pid')]
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
        // containerd may have died after the first check, or the engine died while removing a
        // network.
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

/**
 * Removes the pid file of a containerd that died with the engine. Until it is reaped it stays in
 * the process table, and a new engine would wait for it forever.
 */
async function forgetEnded(pidFile: string): Promise<void> {
  const pid = await readFile(pidFile, 'utf8').catch(() => undefined)
  const stat = pid && (await readFile(`/proc/${Number(pid)}/stat`, 'utf8').catch(() => undefined))
  if (!stat || /\) [ZX] /.test(stat)) await rm(pidFile, { force: true })
}

/** Mounts a separate disk, which tests can fill. */
async function mountDisk(path: string, sizeMiB: number): Promise<void> {
  await mkdir(path)
  await must('mount', '-t', 'tmpfs', '-o', `size=${sizeMiB}m`, 'quayside-test', path)
}

async function mountBtrfs(file: string, path: string, sizeMiB: number): Promise<void> {
  await makeFile(file, sizeMiB)
  await must((await findProgram('mkfs.btrfs')) ?? 'mkfs.btrfs', '--quiet', file)
  await mkdir(path)
  await must('mount', '-t', 'btrfs', '-o', 'loop', file, path)
}

async function mountExt4(file: string, path: string, inodes: number): Promise<void> {
  await makeFile(file, 1024)
  await must('mkfs.ext4', '-q', '-N', String(inodes), file)
  await mkdir(path)
  await must('mount', '-t', 'ext4', '-o', 'loop', file, path)
}

/** Creates a sparse file. It uses only the disk space that is written. */
async function makeFile(file: string, sizeMiB: number): Promise<void> {
  const disk = await open(file, 'wx', 0o600)
  await disk.truncate(sizeMiB * 1024 * 1024)
  await disk.close()
}

/** Numbers from 160 to 223, beside the networks of Docker and of the test cluster. */
const poolOf = (pid: number): number => 160 + (pid % 64)

async function addBridge(name: string): Promise<void> {
  await must(ip, 'link', 'add', 'name', name, 'type', 'bridge')
  await must(ip, 'address', 'add', '10.251.251.1/24', 'dev', name)
  await must(ip, 'link', 'set', name, 'up')
}

async function must(program: string, ...args: readonly string[]): Promise<void> {
  const { exitCode, stderr } = await run(program, args, { timeoutMs: 20_000 })
  if (exitCode !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`)
}
