import { randomBytes } from 'node:crypto'
import { readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { sendCertificates } from '../send-certificates.ts'
import type { TlsSource } from '../tls-source.ts'
import { askRouter } from './control.ts'
import { endRouter, findRouter, type Health, hasAddress, serves } from './find-router.ts'
import { startRouter } from './start-router.ts'

/** The files of a router process. */
interface RouterFiles {
  readonly controlSocket: string
  /** The file that stores the route table, so the process can start without the control plane. */
  readonly stateFile: string
  /** The file that receives the output of the process. */
  readonly logFile: string
  /** The folder for compiled code, which saves later starts 20 MB of memory. It can be shared. */
  readonly cacheFolder?: string
}

/** The proxies in front of a router, which say who their clients are and have other ports. */
interface RouterProxies {
  /** Networks whose `X-Forwarded-*` headers are trusted. None by default. */
  readonly trusted?: readonly string[]
  /** Networks whose connections begin with a PROXY header. None by default. */
  readonly proxies?: readonly string[]
  /** The ports that clients use, if they are others. */
  readonly publicPorts?: { readonly port?: number; readonly tlsPort?: number }
}

export interface RouterProcessOptions extends RouterFiles, RouterProxies {
  /** The address on which the router listens. */
  readonly host: string
  /** 0 means any free port. */
  readonly port: number
  /** Undefined: the router speaks HTTP only. */
  readonly tls?: RouterTls
  /** The most connections of each port, and of one client among them. */
  readonly connections?: { readonly total: number; readonly perClient: number }
  /** The program HAProxy in front of the process. Without it, the process serves clients itself. */
  readonly haproxy?: string
  /** Whether HAProxy serves HTTP/3 too, if it can. */
  readonly http3?: boolean
  /** Called for each started process, before it answers. */
  readonly spawned?: (pid: number) => void
  readonly signal?: AbortSignal
  readonly clock?: Clock
}

export interface RouterTls {
  /** The port of HTTPS. 0 means any free port. */
  readonly port: number
  readonly source: Pick<TlsSource, 'mark' | 'material'>
}

export interface RouterProcess {
  readonly pid: number
  /** The port on which the router listens. */
  readonly port: number
  /** Undefined if it speaks HTTP only. */
  readonly tlsPort?: number
  /** Whether the process was already running. */
  readonly adopted: boolean
}

/** The first version that shares its port with its successor. */
const sharingSince = 7

/**
 * Finds the router process that serves this host and port, or starts one that outlives the caller.
 * A process of another version on the same address ends once its successor listens beside it, so no
 * connection is refused. A process with another address ends first. An interrupted call can be
 * repeated. Concurrent calls for one control socket run one after the other, because each would
 * start a process. Throws `unavailable` if the port is taken or the process does not start.
 */
export function ensureRouterProcess(options: RouterProcessOptions): Promise<RouterProcess> {
  const { controlSocket, signal } = options
  const found = (turns.get(controlSocket) ?? Promise.resolve()).then(() => {
    signal?.throwIfAborted()
    return findOrStart(options)
  })
  // The caller gets the error. The next call takes its turn all the same.
  const turn = found.then(nothing, nothing).finally(() => {
    if (turns.get(controlSocket) === turn) turns.delete(controlSocket)
  })
  turns.set(controlSocket, turn)
  return found
}

/** The last call of this process for each control socket. */
const turns = new Map<string, Promise<void>>()
const nothing = (): void => {}

async function findOrStart(options: RouterProcessOptions): Promise<RouterProcess> {
  const running = await findRouter(options)
  if (running && serves(running, options)) return { ...portsOf(running), adopted: true }
  const waiting = await findSuccessor(options)
  if (waiting) return { ...(await takeOver(options, running, waiting)), adopted: true }
  if (running && mayShare(running, options)) {
    // A separate socket name is needed: closing a socket removes the path under which it was
    // opened, even if another socket has that path by now.
    const name = `${successorPrefix}${randomBytes(2).toString('hex')}`
    const controlSocket = join(dirname(options.controlSocket), name)
    const started = await startRouter({ ...options, controlSocket }, ['--share'])
    return { ...(await takeOver(options, running, { ...started, controlSocket })), adopted: false }
  }
  if (running) await endRouter(options)
  const started = await startRouter(options)
  await equip(options, options.controlSocket)
  return { ...portsOf(started), adopted: false }
}

const portsOf = ({ pid, port, tlsPort }: Health): Omit<RouterProcess, 'adopted'> =>
  tlsPort === undefined ? { pid, port } : { pid, port, tlsPort }

/** The time limit of one request for certificates. */
const certificatesMs = 5_000

/**
 * Sends the certificates to a process. They exist in memory only, so a previous process must not
 * end before.
 */
async function equip({ tls, signal }: RouterProcessOptions, controlSocket: string): Promise<void> {
  if (!tls) return
  const limits = { timeoutMs: certificatesMs, ...(signal && { signal }) }
  await sendCertificates(tls.source, (one) => askRouter(controlSocket, { ...one, ...limits }))
}

/** The prefix of a successor's socket name. It is short because socket paths are limited. */
const successorPrefix = 'next-'

type Successor = Health & { readonly controlSocket: string }

/**
 * Returns the successor left by an interrupted hand-over. Ends it if it cannot be used any longer.
 */
async function findSuccessor(options: RouterProcessOptions): Promise<Successor | undefined> {
  const dir = dirname(options.controlSocket)
  // The directory does not exist before the first start.
  const names = (await readdir(dir).catch(() => [])).filter((name) => name.startsWith(successorPrefix))
  let found: Successor | undefined
  for (const controlSocket of names.map((name) => join(dir, name))) {
    const one = await findRouter({ ...options, controlSocket })
    if (one && !found && serves(one, options)) found = { ...one, controlSocket }
    else if (one) await endRouter({ ...options, controlSocket })
    else await rm(controlSocket, { force: true })
  }
  return found
}

/** Makes the running process release its address at once and end when its open requests end. */
async function takeOver(
  options: RouterProcessOptions,
  running: Health | undefined,
  successor: Successor,
): Promise<Omit<RouterProcess, 'adopted'>> {
  await equip(options, successor.controlSocket)
  if (running) await endRouter(options)
  await rename(successor.controlSocket, options.controlSocket)
  return portsOf(successor)
}

const mayShare = (running: Health, options: RouterProcessOptions): boolean =>
  Number(running.protocol) >= sharingSince && !running.closing && hasAddress(running, options)
