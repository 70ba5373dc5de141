import type { ServedCertificate } from '../certificates.ts'
import { after, monotonic, sleep } from '../clock.ts'
import { describe, type Log } from '../log.ts'
import { type Configuration, configurationOf, type FrontSettings } from './configuration.ts'
import { type CountedEndpoints, FrontCounts } from './front-counts.ts'
import type { HotHosts } from './hot-table.ts'
import { Launcher } from './launcher.ts'
import { sendLines } from './maps.ts'
import { retireOthers } from './retire-others.ts'
import { SecurePort } from './secure-port.ts'
import type { StandIn } from './stand-in.ts'
import { findHaproxy, isAlive, type Running, signalHaproxy } from './start-haproxy.ts'
import { TlsStore } from './tls-store.ts'
import { type EndWatch, watchEnd } from './watch-end.ts'

/** How often the router looks after HAProxy. It notices its end at once. */
const lookMs = 250
/** So many certificates are sent over the socket before changes of routes have their turn. */
const mostAtOnce = 200
/** How long a change of certificates waits for an HAProxy that starts without it. */
const startingMs = 3_000
/** How long a change is tried again at an HAProxy that runs and does not accept it. */
const patienceMs = 4_000
const againMs = 20

export interface FrontOptions extends CountedEndpoints {
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
  /** Returns whether HAProxy still belongs to this router, and not to a later one. */
  isMine(): Promise<boolean>
  /** Whether an authority may ask for a certificate that HAProxy does not choose. */
  isAsked(): boolean
  /** The router's own servers at the ports of clients. They serve while HAProxy does not. */
  readonly standIn: Pick<StandIn, 'open' | 'openSecure' | 'close' | 'closePlain'>
}

/**
 * HAProxy in front of the router: it listens at the ports of clients and carries hot requests on
 * its own. All others come to the router over a unix socket. It outlives the router, and the next
 * router adopts it. While it starts, and from the moment of its end, the router serves alone.
 */
export class Front {
  readonly #options: FrontOptions
  readonly #configuration: Configuration
  readonly #counts: FrontCounts
  #running: Running | undefined
  /** The lines in HAProxy. Undefined if they are unknown. */
  #lines: HotHosts | undefined
  readonly #store: TlsStore
  #isFilling = false
  #turn: Promise<unknown> = Promise.resolve()
  readonly #launcher: Launcher
  readonly #securePort: SecurePort
  /** Whether HAProxy has all lines and certificates, and the router no longer listens. */
  #serves = false
  #cancelLook = (): void => {}
  #watch: EndWatch | undefined
  #isStarted = false
  #isLeft = false

  constructor(options: FrontOptions) {
    this.#options = options
    this.#configuration = configurationOf(options.settings)
    const { program, settings, log, isAsked, standIn } = options
    this.#counts = new FrontCounts(settings.files, options, () => this.#running?.pid)
    this.#securePort = new SecurePort({ admin: settings.files.admin, log, isAsked, standIn })
    this.#store = new TlsStore(settings.files, log)
    this.#launcher = new Launcher({
      program,
      files: settings.files,
      configuration: this.#configuration,
      store: this.#store,
      log,
      tried: () => this.#look(),
    })
  }

  /** The process that serves clients. Undefined while the router serves alone. */
  get pid(): number | undefined {
    return this.#serves ? this.#running?.pid : undefined
  }

  /** Why HAProxy does not run. Undefined if it does, or has not been started yet. */
  get failure(): string | undefined {
    return this.#launcher.failure
  }

  /** Whether HAProxy belongs to another router, or ends. */
  get isLeft(): boolean {
    return this.#isLeft
  }

  /** Returns how many certificates were sent over the socket. */
  get sentCertificates(): number {
    return this.#store.sent
  }

  /**
   * Adopts the running HAProxy. Without one, the router listens, and HAProxy starts beside it.
   * Rejects if the router cannot listen.
   */
  async start(): Promise<void> {
    await this.#inTurn(() => this.#ensure())
    await this.#counts.adopt()
    this.#isStarted = true
    this.#lookLater()
  }

  /**
   * Applies the current table. New requests follow it once this settles. Does nothing before the
   * start and after the end.
   */
  follow(): Promise<void> {
    return this.#inTurn(async () => {
      for (const end = monotonic() + patienceMs; this.#isStarted && !this.#isLeft; await sleep(againMs)) {
        try {
          await this.#ensure()
          // The router serves alone, and has the table.
          if (!this.#running) return
          await this.#send()
          return await this.#handOver()
        } catch (error) {
          this.#forget()
          if (monotonic() > end) throw error
        }
      }
    })
  }

  /**
   * Applies the current certificates, like `follow`. An HAProxy that starts with other ones would
   * refuse handshakes for a while that the router completes now. So it waits for such a start.
   */
  async followCertificates(): Promise<void> {
    await this.follow()
    if (this.#running) return
    await this.#launcher.settledWithout(this.#options.certificates(), startingMs)
    await this.follow()
  }

  /** Applies the current table if the last change failed. */
  async settle(): Promise<void> {
    if (this.#running && !(this.#lines && this.#isServed())) await this.follow()
  }

  /** The counts of HAProxy's requests. */
  get counts(): FrontCounts {
    return this.#counts
  }

  /** Stops looking after HAProxy: another router has adopted it. */
  leave(): void {
    this.#isLeft = true
    this.#cancelLook()
    this.#watch?.cancel()
    this.#launcher.leave()
  }

  /** Has HAProxy accept no connection any more and end once its open requests have ended. */
  stop(): void {
    this.leave()
    this.#launcher.end('SIGUSR1')
    if (this.#running) signalHaproxy(this.#running, 'SIGUSR1')
  }

  /** Ends HAProxy at once. */
  kill(): void {
    this.leave()
    this.#launcher.end('SIGKILL')
    if (this.#running) signalHaproxy(this.#running, 'SIGKILL')
  }

  /**
   * Returns whether HAProxy has ended, once it is neither started nor changed. Its ports are free a
   * moment after its socket is closed.
   */
  async hasEnded(): Promise<boolean> {
    await this.#turn
    await this.#launcher.settled()
    const isGone = (await findHaproxy(this.#options.settings.files)) === undefined
    return isGone && !(this.#running && (await isAlive(this.#running)))
  }

  /** Has either HAProxy or the router itself serve clients. */
  async #ensure(): Promise<void> {
    if (!(await this.#options.isMine())) return this.leave()
    const found = await findHaproxy(this.#options.settings.files)
    if (this.#isLeft) return
    if (found && found.mark === this.#configuration.mark) return this.#stayBehind(found)
    await this.#standIn()
    // It serves other settings. The router serves while another one starts.
    if (found) signalHaproxy(found, 'SIGUSR1')
  }

  async #stayBehind(found: Running): Promise<void> {
    if (found.pid !== this.#running?.pid) {
      this.#forget()
      this.#counts.restart()
      this.#serves = false
      this.#securePort.forget()
      this.#unwatch()
    }
    this.#running = found
    this.#watch ??= watchEnd(this.#options.settings.files.admin, () => this.#look())
    if (!this.#lines) await this.#send()
    await this.#handOver()
  }

  /**
   * Leaves the ports to HAProxy, once it has all lines and certificates, except the port of HTTPS
   * while an authority asks.
   */
  async #handOver(): Promise<void> {
    const { settings, standIn, log } = this.#options
    if (!this.#running || !(this.#serves || (this.#lines && this.#isServed()))) return
    if (!this.#serves) await retireOthers(settings.files, this.#running.pid)
    if (settings.tlsPort !== undefined) await this.#securePort.follow()
    await (this.#securePort.isTaken ? standIn.closePlain() : standIn.close())
    if (this.#serves) return
    this.#serves = true
    this.#launcher.noteService()
    log.info('HAProxy serves in front of the router', { pid: this.#running.pid })
  }

  async #standIn(): Promise<void> {
    const { settings, standIn, certificates, log } = this.#options
    await standIn.open()
    if (this.#running) {
      log.warn('HAProxy has ended, and the router serves alone', { pid: this.#running.pid })
      this.#launcher.noteEnd()
      this.#unwatch()
      this.#running = undefined
      this.#serves = false
      this.#securePort.forget()
      this.#counts.restart()
      this.#forget()
    }
    const wanted = settings.tlsPort === undefined ? [] : certificates()
    // Without its certificates, HAProxy would refuse handshakes. The stand-in lets them wait.
    if (wanted && !this.#isLeft) this.#launcher.begin(wanted)
  }

  #unwatch(): void {
    this.#watch?.cancel()
    this.#watch = undefined
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
      if (this.#isLeft || !this.#running || !(await this.#options.isMine())) return
      await this.#certify()
      await this.#handOver()
    }).catch((error: unknown) => {
      // The next look or change of routes tries again.
      this.#options.log.warn('certificates did not reach HAProxy', { error: describe(error) })
    })
  }

  #look(): void {
    if (this.#isLeft) return
    this.#inTurn(() => (this.#isLeft ? Promise.resolve() : this.#ensure())).then(
      () => this.#lookLater(),
      (error: unknown) => {
        this.#options.log.error('HAProxy could not be looked after', { error: describe(error) })
        this.#lookLater()
      },
    )
  }

  #lookLater(): void {
    this.#cancelLook()
    if (this.#isLeft) return
    this.#cancelLook = after(lookMs, () => {
      if (this.#watch?.isOver) this.#unwatch()
      this.#look()
    })
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work)
    this.#turn = result.catch(() => {})
    return result
  }
}
