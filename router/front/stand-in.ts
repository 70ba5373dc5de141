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
 * The router's own servers at the ports of clients, while HAProxy does not serve there. HAProxy
 * shares the ports with them (SO_REUSEPORT), so either may begin before the other one ends.
 */
export class StandIn {
  readonly #options: StandInOptions
  /** The servers that listen now. */
  #plain: Front | undefined
  #secure: Secure | undefined
  /** Servers that no longer listen, whose connections end with their current requests. */
  readonly #leaving = new Map<Front, Promise<void>>()
  #ticketKey: Buffer | undefined
  #isOver = false

  constructor(options: StandInOptions) {
    this.#options = options
  }

  /** The servers that have connections or listen. */
  get fronts(): readonly Front[] {
    return [this.#plain, this.#secure, ...this.#leaving.keys()].filter((one) => one !== undefined)
  }

  /** Sets the key of session tickets, in base64. */
  setTicketKey(key: string): void {
    this.#ticketKey = Buffer.from(key, 'base64')
    this.#secure?.server.setTicketKeys(this.#ticketKey)
  }

  /**
   * Listens at the ports, unless it does. Rejects with the system's error if a port is in use, and
   * does not listen for plain requests then.
   */
  async open(): Promise<void> {
    if (this.#isOver) return
    const { traffic, port } = this.#options
    if (!this.#plain) this.#plain = await this.#listen(createTrafficServer(traffic), port)
    try {
      await this.openSecure()
    } catch (error) {
      await this.closePlain()
      throw error
    }
    if (this.#isOver) await this.close()
  }

  /** Listens at the port of HTTPS alone, if the router has one and does not listen already. */
  async openSecure(): Promise<void> {
    const { traffic, tlsPort } = this.#options
    if (this.#isOver || this.#secure || tlsPort === undefined) return
    const secure = createTlsServer(traffic)
    if (this.#ticketKey) secure.server.setTicketKeys(this.#ticketKey)
    this.#secure = await this.#listen(secure, tlsPort)
    if (this.#isOver) await this.close()
  }

  /**
   * Stops listening, and asks the clients of open connections to use new ones: each response of
   * HTTP/1.1 ends its connection, HTTP/2 gets a GOAWAY. Upgraded connections live on. Settles once
   * nothing listens.
   */
  async close(): Promise<void> {
    const secure = this.#secure
    this.#secure = undefined
    await Promise.all([this.closePlain(), secure && this.#dismiss(secure)])
  }

  /** Stops listening at the port of HTTP, like `close`. */
  async closePlain(): Promise<void> {
    const plain = this.#plain
    this.#plain = undefined
    if (plain) await this.#dismiss(plain)
  }

  /** Stops listening for good. Settles once every connection has ended. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.close()
    await Promise.all(this.#leaving.values())
  }

  async #listen<One extends Front>(front: One, port: number): Promise<One> {
    const { traffic, host, proxies } = this.#options
    if (proxies.length > 0) readProxyHeaders(front, traffic, proxies)
    try {
      await open(front.server, { host, port })
    } catch (error) {
      front.server.close()
      throw error
    }
    return front
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
