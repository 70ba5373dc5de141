import type { Log } from '../log.ts'
import { askFront, FrontRefusal } from './admin-socket.ts'
import type { StandIn } from './stand-in.ts'
import { TakenTime } from './taken-time.ts'

export interface SecurePortOptions {
  /** The admin socket of HAProxy. */
  readonly admin: string
  readonly log: Log
  /** Whether an authority may ask for a certificate that HAProxy does not choose. */
  isAsked(): boolean
  readonly standIn: Pick<StandIn, 'openSecure'>
  /** `monotonic` by default. */
  now?(): number
}

/**
 * The port of HTTPS, which either HAProxy or the router has. HAProxy chooses a certificate by the
 * name alone. So the router takes the port while an authority may ask about a host that already has
 * a certificate (TLS-ALPN-01). Established connections stay at HAProxy.
 */
export class SecurePort {
  readonly #options: SecurePortOptions
  readonly #time: TakenTime
  /** Undefined if it is unknown: another router has left HAProxy. */
  #isTaken: boolean | undefined
  #isWarned = false

  constructor(options: SecurePortOptions) {
    this.#options = options
    this.#time = new TakenTime(options.now)
  }

  /** Whether the router has the port beside a running HAProxy. */
  get isTaken(): boolean {
    return this.#isTaken === true
  }

  /** Must be called if another HAProxy runs, or none. */
  forget(): void {
    this.#time.takes(false)
    this.#isTaken = undefined
  }

  /** Takes the port or returns it. One listens before the other one stops. */
  async follow(): Promise<void> {
    const isAsked = this.#options.isAsked()
    const takes = this.#time.takes(isAsked)
    this.#warn(isAsked && this.#time.isUsedUp)
    if (takes === this.#isTaken) return
    if (takes) await this.#options.standIn.openSecure()
    await this.#switch(takes ? 'disable' : 'enable')
    if (takes || this.#isTaken) this.#options.log.info(`${takes ? 'the router' : 'HAProxy'} completes handshakes`)
    this.#isTaken = takes
  }

  async #switch(command: 'disable' | 'enable'): Promise<void> {
    const line = `${command} frontend secure`
    const answer = await askFront(this.#options.admin, line)
    if (answer === '' || answer.includes(`already ${command}d`)) return
    throw new FrontRefusal(`HAProxy refused "${line}": ${answer}`)
  }

  #warn(isRefused: boolean): void {
    if (isRefused && !this.#isWarned)
      this.#options.log.warn('authorities asked for too long, and their handshakes are refused for a while')
    this.#isWarned = isRefused
  }
}
