import { resolve4, resolve6 } from 'node:dns/promises'
import { access, readFile, stat, statfs } from 'node:fs/promises'
import { createServer } from 'node:net'
import { freemem, networkInterfaces, release, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { run } from '../lib/run.ts'
import { parseVersion } from './check.ts'
import type { ClockFact, DiskFact, DomainFact, Facts, FileFact, PortFact } from './facts.ts'
import { gatherEngine } from './gather-engine.ts'
import { gatherHaproxy, type Http3Settings, http3Wishes } from './gather-haproxy.ts'

/** The settings that the checks read. */
export interface DoctorSettings extends Http3Settings {
  readonly dataDirectory: string
  readonly masterKeyFile: string
  readonly tokenPepperFile: string
  readonly host: string
  readonly port: number
  readonly routerHost: string
  readonly routerPort: number
  readonly publicPorts: Facts['publicPorts']
  readonly domain: string
  /** Undefined: the installation has no Docker Engine. */
  readonly dockerSocket: string | undefined
  /** The program HAProxy. Undefined: the router serves clients alone. */
  readonly haproxy: string | undefined
}

export interface GatherOptions {
  readonly settings: DoctorSettings
  readonly clock: Clock
  readonly settingsProblem?: string | undefined
  readonly unknownSettings: readonly string[]
  /** Whether the server of this installation runs. Its ports are its own then. */
  readonly isRunning: boolean
}

/**
 * Collects facts about the machine. Changes nothing, and calls only the engine and the resolver.
 */
export async function gatherFacts({
  settings,
  clock,
  settingsProblem,
  unknownSettings,
  isRunning,
}: GatherOptions): Promise<Facts> {
  const now = (): number => clock.now().getTime()
  const [wall, steady] = [now(), clock.monotonic()]
  const { root, ...engine } = await gatherEngine(settings.dockerSocket, now)
  const places = [...new Set([settings.dataDirectory, ...(root ? [root] : [])])]
  const hasRouter = isRunning || (await routerRuns(settings))
  const [disks, ports, domain, gitVersion, missingFilters, haproxy, files, isSynchronized] = await Promise.all([
    Promise.all(places.map(diskOf)),
    Promise.all([
      portOf('QUAYSIDE_PORT', settings.host, settings.port, isRunning),
      portOf('QUAYSIDE_ROUTER_PORT', settings.routerHost, settings.routerPort, hasRouter),
      ...(settings.routerTls
        ? [portOf('QUAYSIDE_ROUTER_TLS_PORT', settings.routerHost, settings.routerTls.port, hasRouter)]
        : []),
    ]),
    domainOf(settings.domain),
    printedVersion('git', ['--version']),
    missingPrograms(['iptables', 'ip6tables', 'ebtables']),
    gatherHaproxy(settings),
    filesOf(settings),
    synchronized(),
  ])
  const clockFact: ClockFact = { isSynchronized, nowMs: now(), jumpMs: now() - wall - (clock.monotonic() - steady) }
  return {
    nodeVersion: process.versions.node,
    isRoot: process.getuid?.() === 0,
    settingsProblem,
    unknownSettings,
    ports,
    publicPorts: settings.publicPorts,
    outgoingPorts: parseRange(await text('/proc/sys/net/ipv4/ip_local_port_range')),
    disks: disks.filter((disk) => disk !== undefined),
    memory: { totalBytes: totalmem(), availableBytes: availableBytes(await text('/proc/meminfo')) ?? freemem() },
    kernel: release(),
    cgroupVersion: await cgroupVersion(),
    gitVersion,
    missingFilters,
    engine,
    haproxy,
    http3: http3Wishes(settings),
    domain,
    clock: clockFact,
    files,
  }
}

const text = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '')
const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** Pure: parses a range such as `32768	60999`. */
export function parseRange(line: string): Facts['outgoingPorts'] {
  const [first, last] = line.trim().split(/\s+/).map(Number)
  return first && last ? { first, last } : undefined
}

/** Pure: parses the text of /proc/meminfo. */
export function availableBytes(meminfo: string): number | undefined {
  const kibibytes = /^MemAvailable:\s+(\d+) kB$/m.exec(meminfo)?.[1]
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024
}

/** A directory that does not exist yet will be on the disk of its parent. */
async function diskOf(path: string): Promise<DiskFact | undefined> {
  let place = path
  while (!(await isThere(place)) && place !== dirname(place)) place = dirname(place)
  const found = await statfs(place).catch(() => undefined)
  if (!found) return undefined
  const { bsize, blocks, bavail, files: totalInodes, ffree: freeInodes } = found
  return { path, totalBytes: bsize * blocks, freeBytes: bsize * bavail, totalInodes, freeInodes }
}

async function portOf(setting: PortFact['setting'], host: string, port: number, isOwn: boolean): Promise<PortFact> {
  const { promise, resolve } = Promise.withResolvers<PortFact['state']>()
  const server = createServer()
  server.once('error', (error: NodeJS.ErrnoException) => {
    resolve(error.code !== 'EADDRINUSE' ? 'problem' : isOwn ? 'own' : 'taken')
  })
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve('free')))
  return { setting, host, port, state: await promise }
}

/** The router outlives the server. Its socket accepts connections while it runs. */
async function routerRuns({ dataDirectory }: DoctorSettings): Promise<boolean> {
  const path = join(dataDirectory, 'router', 'control.sock')
  const table = await text('/proc/net/unix')
  return table.split('\n').some((line) => line.endsWith(` ${path}`))
}

async function domainOf(domain: string): Promise<DomainFact | undefined> {
  if (domain === 'localhost' || domain.endsWith('.localhost')) return undefined
  const name = `quayside-check.${domain}`
  const [v4, v6] = await Promise.all([resolve4(name).catch(() => []), resolve6(name).catch(() => [])])
  const ownAddresses = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address))
  return { name, addresses: [...v4, ...v6], ownAddresses }
}

/** Returns the version that a program prints. Undefined if the program is missing. */
async function printedVersion(program: string, args: readonly string[]): Promise<string | undefined> {
  const found = await run(program, args, { timeoutMs: 10_000 }).catch(() => undefined)
  return found?.exitCode === 0 ? parseVersion(found.stdout.toString())?.join('.') : undefined
}

async function missingPrograms(names: readonly string[]): Promise<string[]> {
  const found = await Promise.all(names.map((name) => run(name, ['-V'], { timeoutMs: 10_000 }).catch(() => undefined)))
  return names.filter((_, index) => found[index]?.exitCode !== 0)
}

async function cgroupVersion(): Promise<1 | 2 | undefined> {
  if (await isThere('/sys/fs/cgroup/cgroup.controllers')) return 2
  return (await isThere('/sys/fs/cgroup/memory')) ? 1 : undefined
}

async function filesOf({ dataDirectory, masterKeyFile, tokenPepperFile }: DoctorSettings): Promise<FileFact[]> {
  const wanted = [
    { path: dataDirectory, kind: 'directory' as const },
    ...[
      masterKeyFile,
      tokenPepperFile,
      ...['admin-token', 'account-link'].map((name) => join(dataDirectory, name)),
    ].map((path) => ({
      path,
      kind: 'secret' as const,
    })),
  ]
  const found = await Promise.all(
    wanted.map(async ({ path, kind }) => {
      const facts = await stat(path).catch(() => undefined)
      return facts && { path, kind, mode: facts.mode, owner: ownerOf(facts) }
    }),
  )
  return found.filter((fact) => fact !== undefined)
}

const ownerOf = ({ uid, gid }: { readonly uid: number; readonly gid: number }): FileFact['owner'] =>
  uid === process.getuid?.() ? 'own' : uid === 0 && gid === process.getgid?.() ? 'group' : 'other'

/** Returns whether the kernel's clock is synchronized. Undefined if it is unknown. */
async function synchronized(): Promise<boolean | undefined> {
  const args = ['show', '--property=NTPSynchronized', '--value']
  const found = await run('timedatectl', args, { timeoutMs: 5_000 }).catch(() => undefined)
  const said = found?.exitCode === 0 ? found.stdout.toString().trim() : ''
  return said === 'yes' ? true : said === 'no' ? false : undefined
}
