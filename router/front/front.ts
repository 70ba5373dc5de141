import { writeFile } from 'node:fs/promises'
import type { RouteEndpoint } from '@quayside/contract/routes.ts'
import type { ServedCertificate } from '../certificates.ts'
import { after, monotonic, sleep } from '../clock.ts'
import { describe, type Log } from '../log.ts'
import { askFront } from './admin-socket.ts'
import { type Configuration, configurationOf, type FrontSettings } from './configuration.ts'
import type { HotHosts } from './hot-table.ts'
import { writeKeyFiles } from './key-files.ts'
import { sendLines, writeMaps } from './maps.ts'
import { findHaproxy, isAlive, type Running, signalHaproxy, startHaproxy } from './start-haproxy.ts'
import { type Carried, openIn, shownCounts, Tallies, type Tally } from './tallies.ts'
import { TlsStore } from './tls-store.ts'

/** How often the router looks whether HAProxy runs. */
const lookMs = 250
const drainLookMs = 20
/**
 * A fresh HAProxy listens once it has read these certificates, within two seconds. The others
 * follow over its socket. One that replaces another reads all of them before.
 */
const mostAtStart = 2_000
/** So many certificates are sent over the socket before changes of routes have their turn. */
const mostAtOnce = 200
/** How long a change waits for an HAProxy that starts again. */
const patienceMs = 4_000

export interface FrontOptions {
  readonly program: string
  readonly settings: FrontSettings
  readonly log: Log
  /** Returns the hot lines of the current table. */
  hosts(): HotHosts
  /**
   * Returns the current certificates. HAProxy serves them if it has a port for TLS. Undefined if
   * they are unknown yet: a running HAProxy then keeps its own ones.
   */
  certificates(): readonly ServedCertificate[] | undefined
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
  readonly #store: TlsStore
  #isFilling = false
  #turn: Promise<unknown> = Promise.resolve()
  #cancelLook = (): void => {}
  #isStarted = false
  #isLeft = false
  #isEnding = false

  constructor(options: FrontOptions) {
    this.#options = options
    this.#configuration = configurationOf(options.settings)
    this.#tallies = new Tallies(options.isListed)
    this.#store = new TlsStore(options.settings.files, options.log)
  }

  /** The process. Undefined if none runs. */
  get pid(): number | undefined {
    return this.#running?.pid
  }

  /** Whether HAProxy belongs to another router, or ends. */
  get isLeft(): boolean {
    return this.#isLeft
  }

  /** Returns how many certificates were sent over the socket. */
  get sentCertificates(): number {
    return this.#store.sent
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
    if (!this.#lines || !this.#isServed()) await this.follow()
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
      const open = await this.#openAt(keys)
      empty = open === 0 ? empty + 1 : 0
      if (empty === 2 || (open > 0 && (signal.aborted || monotonic() >= end))) return open
      await sleep(drainLookMs)
    }
  }

  async #openAt(keys: readonly string[]): Promise<number> {
    let open = 0
    if (!this.#running) return open
    for (const line of shownCounts(keys)) open += openIn(await askFront(this.#options.settings.files.admin, line))
    return open
  }

  /** Stops looking after HAProxy: another router has adopted it. */
  leave(): void {
    this.#isLeft = true
    this.#cancelLook()
  }

  /** Has HAProxy accept no connection any more and end once its open requests have ended. */
  stop(): void {
    this.leave()
    this.#isEnding = true
    if (this.#running) signalHaproxy(this.#running, 'SIGUSR1')
  }

  /** Ends HAProxy at once. */
  kill(): void {
    this.leave()
    this.#isEnding = true
    if (this.#running) signalHaproxy(this.#running, 'SIGKILL')
  }

  /**
   * Returns whether HAProxy has ended, once it is neither started nor changed. Its ports are free a
   * moment after its socket is closed.
   */
  async hasEnded(): Promise<boolean> {
    await this.#turn
    const isGone = (await findHaproxy(this.#options.settings.files)) === undefined
    return isGone && !(this.#running && (await isAlive(this.#running)))
  }

  async #ensure(): Promise<void> {
    const { settings, log, isMine } = this.#options
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
    // It may have ended because `stop` was called meanwhile.
    if (this.#isLeft) return
    this.#running = await this.#launch(found)
    if (this.#isEnding) return signalHaproxy(this.#running, 'SIGKILL')
    this.#lines = hosts
    await this.#certify()
    log.info('HAProxy started in front of the router', { pid: this.#running.pid })
  }

  /** Starts HAProxy with certificates that it reads from a RAM disk. */
  async #launch(previous: Running | undefined): Promise<Running> {
    const { program, settings, log, certificates } = this.#options
    if (previous) await this.#store.learn()
    const { files, tlsPort } = settings
    const start = { program, files, configuration: this.#configuration, previous }
    const known = tlsPort === undefined ? [] : this.#store.accepted(certificates() ?? [])
    const wanted = previous ? known : known.slice(0, mostAtStart)
    const keys = wanted.length > 0 ? await writeKeyFiles(wanted, files.folder) : undefined
    try {
      await writeFile(files.certificates, keys?.list ?? '', { mode: 0o600 })
      return await startHaproxy({ ...start, certificates: wanted.length })
    } catch (error) {
      if (!keys) throw error
      // Another version of HAProxy may refuse one. Over the socket it is refused alone.
      log.error('HAProxy did not start with its certificates', { error: describe(error) })
      await writeFile(files.certificates, '', { mode: 0o600 })
      return await startHaproxy({ ...start, certificates: 0 })
    } finally {
      await keys?.remove()
    }
  }

  #forget(): void {
    this.#lines = undefined
    this.#store.forget()
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

  #isServed(): boolean {
    const wanted = this.#options.certificates()
    return this.#options.settings.tlsPort === undefined || !wanted || this.#store.serves(wanted)
  }

  /** Sends certificates that are missing. The last of many are sent in later turns. */
  async #certify(): Promise<void> {
    const wanted = this.#options.certificates()
    if (!wanted || this.#isServed()) return
    if ((await this.#store.follow(wanted, mostAtOnce)) || this.#isFilling) return
    this.#isFilling = true
    this.#inTurn(async () => {
      this.#isFilling = false
      if (!this.#isLeft && (await this.#options.isMine())) await this.#certify()
    }).catch((error: unknown) => {
      // The next look or change of routes tries again.
      this.#options.log.warn('certificates did not reach HAProxy', { error: describe(error) })
    })
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
