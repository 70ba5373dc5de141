import { Server as NetServer } from 'node:net'
import { readProxyHeaders } from '../behind-proxies.ts'
import { acceptWaiting } from '../close-listener.ts'
import { open } from '../listen.ts'
import { createTlsServer } from '../tls-server.ts'
import type { Traffic } from '../traffic.ts'
import { createTrafficServer, type Front } from '../traffic-server.ts'

export interface StandInOptions {
  readonly traffic: Traffic
  readonly host: string
  readonly port: number
  /** Undefined: HTTP only. */
  readonly tlsPort: number | undefined
  /** Networks whose connections begin with a PROXY header. */
  readonly proxies: readonly string[]
}

type Secure = ReturnType<typeof createTlsServer>

/**
 * The router's own servers at the ports of clients, while HAProxy does not serve. HAProxy shares
 * the ports with them (SO_REUSEPORT), so either may begin before the other one ends.
 */
export class StandIn {
  readonly #options: StandInOptions
  /** The servers that listen now. */
  #serving: readonly Front[] = []
  #secure: Secure | undefined
  /** Servers that no longer listen, whose connections end with their current requests. */
  readonly #leaving = new Map<Front, Promise<void>>()
  #ticketKey: Buffer | undefined
  #isOver = false

  constructor(options: StandInOptions) {
    this.#options = options
  }

  /** Whether the router itself listens at the ports of clients. */
  get isOpen(): boolean {
    return this.#serving.length > 0
  }

  /** The servers that have connections or listen. */
  get fronts(): readonly Front[] {
    return [...this.#serving, ...this.#leaving.keys()]
  }

  /** Sets the key of session tickets, in base64. */
  setTicketKey(key: string): void {
    this.#ticketKey = Buffer.from(key, 'base64')
    this.#secure?.server.setTicketKeys(this.#ticketKey)
  }

  /**
   * Listens at the ports, unless it does. Rejects with the system's error if a port is in use, and
   * listens at none then.
   */
  async open(): Promise<void> {
    if (this.isOpen || this.#isOver) return
    const { traffic, host, port, tlsPort, proxies } = this.#options
    const plain: Front = createTrafficServer(traffic)
    const secure = tlsPort === undefined ? undefined : createTlsServer(traffic)
    if (this.#ticketKey) secure?.server.setTicketKeys(this.#ticketKey)
    const fronts: readonly Front[] = secure ? [plain, secure] : [plain]
    if (proxies.length > 0) for (const front of fronts) readProxyHeaders(front, traffic, proxies)
    try {
      await open(plain.server, { host, port })
      if (secure && tlsPort !== undefined) await open(secure.server, { host, port: tlsPort })
    } catch (error) {
      for (const { server } of fronts) server.close()
      throw error
    }
    this.#serving = fronts
    this.#secure = secure
    if (this.#isOver) await this.close()
  }

  /**
   * Stops listening, and asks the clients of open connections to use new ones: each response of
   * HTTP/1.1 ends its connection, HTTP/2 gets a GOAWAY. Upgraded connections live on. Settles once
   * nothing listens.
   */
  async close(): Promise<void> {
    const fronts = this.#serving
    this.#serving = []
    this.#secure = undefined
    await Promise.all(fronts.map((front) => this.#dismiss(front)))
  }

  /** Stops listening for good. Settles once every connection has ended. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.close()
    await Promise.all(this.#leaving.values())
  }

  async #dismiss(front: Front): Promise<void> {
    const { server, connections } = front
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    connections.isLeaving = true
    this.#leaving.set(front, ended)
    await acceptWaiting(server)
    // Node's own `close` of HTTP servers breaks off idle connections, where a request may be on its
    // way already. It also stops the check of timeouts, so it follows once all have ended.
    NetServer.prototype.close.call(server, () => {
      server.close()
      this.#leaving.delete(front)
      resolve()
    })
    front.leave?.()
  }
}
