import { mkdir, rename, stat, writeFile } from 'node:fs/promises'
import type { RouteEndpoint, TlsCertificate } from '@quayside/contract/routes.ts'
import { after, monotonic, sleep } from '../clock.ts'
import { describe, type Log } from '../log.ts'
import { askFront, changeFront } from './admin-socket.ts'
import { type Configuration, configurationOf, type FrontSettings } from './configuration.ts'
import { mapNames } from './hot-routes.ts'
import type { HotHosts } from './hot-table.ts'
import { beginReplacement, linesOf, mapCommands, replacement } from './map-changes.ts'
import { findHaproxy, type Running, signalHaproxy, startHaproxy } from './start-haproxy.ts'
import { type Carried, Tallies, type Tally } from './tallies.ts'
import { storeCertificates, storedCertificates } from './tls-store.ts'

/** How often the router looks whether HAProxy runs. */
const lookMs = 250
const drainLookMs = 20
/** How long a change waits for an HAProxy that starts again. */
const patienceMs = 4_000

export interface FrontOptions {
  readonly program: string
  readonly settings: FrontSettings
  readonly log: Log
  /** Returns the hot lines of the current table. */
  hosts(): HotHosts
  /** Returns the current certificates. HAProxy serves them if it has a port for TLS. */
  certificates(): readonly TlsCertificate[]
  /** Whether the table lists an endpoint, by `address:port`. */
  isListed(label: string): boolean
  /** Returns whether HAProxy still belongs to this router, and not to a later one. */
  isMine(): Promise<boolean>
}

/**
 * HAProxy in front of the router: it listens at the ports of clients and carries hot requests on
 * its own. All others come to the router over a unix socket. It outlives the router, and the next
 * router adopts it.
 */
export class Front {
  readonly #options: FrontOptions
  readonly #configuration: Configuration
  readonly #tallies: Tallies
  #running: Running | undefined
  /** The lines in HAProxy. Undefined if they are unknown. */
  #lines: HotHosts | undefined
  /** The certificates in HAProxy. Undefined if they are unknown. */
  #served: readonly TlsCertificate[] | undefined
  #turn: Promise<unknown> = Promise.resolve()
  #cancelLook = (): void => {}
  #isStarted = false
  #isLeft = false

  constructor(options: FrontOptions) {
    this.#options = options
    this.#configuration = configurationOf(options.settings)
    this.#tallies = new Tallies(options.isListed)
  }

  /** The process. Undefined if none runs. */
  get pid(): number | undefined {
    return this.#running?.pid
  }

  /** Starts HAProxy, or adopts the running one. Rejects if it does not start. */
  async start(): Promise<void> {
    await this.#inTurn(() => this.#ensure())
    // The router that had HAProxy before has returned these.
    await this.carried()
    this.#isStarted = true
    this.#watch()
  }

  /**
   * Applies the current table. New requests follow it once this settles. Does nothing before the
   * start and after the end.
   */
  follow(): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.#isStarted || this.#isLeft) return
      for (const end = monotonic() + patienceMs; ; await sleep(lookMs)) {
        try {
          await this.#ensure()
          return this.#isLeft ? undefined : await this.#send()
        } catch (error) {
          this.#forget()
          if (monotonic() > end) throw error
        }
      }
    })
  }

  /** Applies the current table if the last change failed. */
  async settle(): Promise<void> {
    const { settings, certificates } = this.#options
    const isServed = settings.tlsPort === undefined || this.#served === certificates()
    if (!this.#lines || !isServed) await this.follow()
  }

  /** Returns what HAProxy carried for each endpoint since the last call, by `address:port`. */
  async carried(): Promise<ReadonlyMap<string, Carried>> {
    return this.#tallies.since(await this.tallies())
  }

  /** Returns the requests of each endpoint that had any, by `address:port`. */
  async tallies(): Promise<ReadonlyMap<string, Tally>> {
    if (!this.#running) return this.#tallies.read('')
    return this.#tallies.read(await askFront(this.#options.settings.files.admin, 'show table endpoints'))
  }

  /**
   * Waits until these endpoints have no open request, for at most `timeoutMs` or until `signal`.
   * Returns how many are still open.
   */
  async drain(endpoints: readonly RouteEndpoint[], timeoutMs: number, signal: AbortSignal): Promise<number> {
    const end = monotonic() + timeoutMs
    const keys = endpoints.map(({ address, port }) => `${address}:${port}`)
    // A request that has read its line is counted a moment later. So one look is not enough.
    for (let empty = 0; ; ) {
      const tallies = await this.tallies()
      const open = keys.reduce((sum, key) => sum + (tallies.get(key)?.open ?? 0), 0)
      empty = open === 0 ? empty + 1 : 0
      if (empty === 2 || (open > 0 && (signal.aborted || monotonic() >= end))) return open
      await sleep(drainLookMs)
    }
  }

  /** Stops looking after HAProxy: another router has adopted it. */
  leave(): void {
    this.#isLeft = true
    this.#cancelLook()
  }

  /** Has HAProxy accept no connection any more and end once its open requests have ended. */
  stop(): void {
    this.leave()
    if (this.#running) signalHaproxy(this.#running, 'SIGUSR1')
  }

  /** Ends HAProxy at once. */
  kill(): void {
    this.leave()
    if (this.#running) signalHaproxy(this.#running, 'SIGKILL')
  }

  /** Returns whether HAProxy has ended. */
  async hasEnded(): Promise<boolean> {
    return (await findHaproxy(this.#options.settings.files)) === undefined
  }

  async #ensure(): Promise<void> {
    const { program, settings, log, isMine } = this.#options
    if (!(await isMine())) return this.leave()
    const found = await findHaproxy(settings.files)
    const configuration = this.#configuration
    if (found?.mark === configuration.mark) {
      if (found.pid !== this.#running?.pid) this.#forget()
      this.#running = found
      if (!this.#lines) await this.#send()
      return
    }
    this.#running = undefined
    this.#tallies.restart()
    this.#forget()
    const hosts = this.#options.hosts()
    await writeMaps(settings, hosts)
    this.#running = await startHaproxy(program, settings.files, configuration, found)
    this.#lines = hosts
    await this.#certify()
    log.info('HAProxy started in front of the router', { pid: this.#running.pid })
  }

  #forget(): void {
    this.#lines = undefined
    this.#served = undefined
  }

  /** Sends what changed. Throws if HAProxy does not answer. */
  async #send(): Promise<void> {
    await this.#certify()
    const hosts = this.#options.hosts()
    const before = this.#lines
    this.#lines = undefined
    await sendLines(this.#options.settings, before, hosts)
    this.#lines = hosts
  }

  /** Sends the certificates, if they are other ones than before. */
  async #certify(): Promise<void> {
    const { settings, log } = this.#options
    const wanted = this.#options.certificates()
    if (settings.tlsPort === undefined || this.#served === wanted) return
    this.#served = undefined
    const refused = await storeCertificates(settings.files, await storedCertificates(settings.files), wanted)
    for (const [host, error] of refused) log.error('certificate cannot be used', { host, error })
    this.#served = wanted
  }

  #watch(): void {
    if (this.#isLeft) return
    this.#cancelLook = after(lookMs, () => {
      this.#inTurn(() => (this.#isLeft ? Promise.resolve() : this.#ensure())).then(
        () => this.#watch(),
        (error: unknown) => {
          this.#options.log.error('HAProxy could not be started again', { error: describe(error) })
          this.#watch()
        },
      )
    })
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work)
    this.#turn = result.catch(() => {})
    return result
  }
}

async function sendLines({ files, tlsPort }: FrontSettings, before: HotHosts | undefined, hosts: HotHosts) {
  const { maps, admin } = files
  const commands = before && mapCommands(maps, before, hosts)
  if (commands) {
    for (const line of commands) await changeFront(admin, line)
    return
  }
  for (const name of mapNames) {
    if (name === 'secure' && tlsPort === undefined) continue
    const begun = await changeFront(admin, beginReplacement(maps[name]), /^New version created: \d+$/)
    const version = begun.split(': ').at(-1) ?? ''
    for (const command of replacement(maps[name], version, linesOf(hosts, name))) await changeFront(admin, command)
  }
}

async function writeMaps({ files }: FrontSettings, hosts: HotHosts): Promise<void> {
  await mkdir(files.folder, { recursive: true, mode: 0o700 })
  for (const name of mapNames) {
    const text = linesOf(hosts, name)
      .map(([key, line]) => `${key} ${line}\n`)
      .join('')
    await writeFile(files.maps[name], text, { mode: 0o600 })
  }
  await writeFile(files.certificates, '', { mode: 0o600 })
}

/** The socket of one router, which several routers in turn have at the same path. */
export interface OwnSocket {
  /** The path on which this router listens first. */
  readonly path: string
  /** Takes the path to which HAProxy connects. */
  take(): Promise<void>
  /** Returns whether this router still has that path. */
  isMine(): Promise<boolean>
}

/** Returns the socket of this process in front of which HAProxy runs. */
export function ownSocket({ own }: FrontSettings['files']): OwnSocket {
  const path = `${own}.${process.pid}`
  let inode: number | undefined
  return {
    path,
    take: async () => {
      inode = (await stat(path)).ino
      await rename(path, own)
    },
    isMine: async () => inode !== undefined && (await stat(own).catch(() => undefined))?.ino === inode,
  }
}
