import type { RoutePort } from '@quayside/contract/routes.ts'
import { after } from './clock.ts'
import { describe } from './log.ts'
import { createTcpServer } from './tcp.ts'
import type { Traffic } from './traffic.ts'
import { UdpPort } from './udp.ts'

/** How often the router tries again to listen on a port that another program has. */
const againMs = 1_000

/** A server that listens on one port. */
interface Listening {
  readonly protocol: RoutePort['protocol']
  /** Must be called after every new table. */
  follow(): void
  /** Stops listening. Settles once every open connection has ended. */
  close(): Promise<void>
}

/**
 * Listens on the ports that the table names, in addition to the HTTP port. TCP connections outlive
 * their route: they end when one of their sides does.
 */
export class Ports {
  readonly #traffic: Traffic
  readonly #address: string
  readonly #servers = new Map<number, Listening>()
  #hosts = new Map<number, string>()
  #taken: readonly number[] = []
  #turn: Promise<void> = Promise.resolve()
  #cancelAgain = (): void => {}
  #closed = false

  constructor(traffic: Traffic, address: string) {
    this.#traffic = traffic
    this.#address = address
  }

  /** Ports of the table that the router cannot listen on because another program has them. */
  get taken(): readonly number[] {
    return this.#taken
  }

  /**
   * Must be called after every new table. Settles once each port is open or known to be taken.
   * Never rejects.
   */
  look(): Promise<void> {
    this.#turn = this.#turn.then(() => this.#follow())
    return this.#turn
  }

  /** Stops accepting connections. Settles once the open ones have ended. */
  async close(): Promise<void> {
    this.#closed = true
    this.#cancelAgain()
    await this.#turn
    await Promise.all([...this.#servers.values()].map((server) => server.close()))
  }

  async #follow(): Promise<void> {
    if (this.#closed) return
    this.#cancelAgain()
    const listed = this.#traffic.routes.table.routes.flatMap(({ listen, host }) =>
      listen ? [{ ...listen, host }] : [],
    )
    this.#hosts = new Map(listed.map(({ port, host }) => [port, host]))
    const wanted = new Map(listed.map(({ port, protocol }) => [port, protocol]))
    for (const [port, server] of this.#servers) {
      if (wanted.get(port) === server.protocol) server.follow()
      else {
        this.#servers.delete(port)
        server.close().catch(() => {})
      }
    }
    const missing = listed.filter(({ port }) => !this.#servers.has(port))
    const failed = await Promise.all(missing.map((one) => this.#listen(one)))
    this.#taken = missing.flatMap(({ port }, index) => (failed[index] ? [port] : []))
    if (this.#taken.length > 0) this.#cancelAgain = after(againMs, () => void this.look())
  }

  /** Returns whether it failed. */
  async #listen({ protocol, port }: RoutePort): Promise<boolean> {
    const hostNow = (): string | undefined => this.#hosts.get(port)
    try {
      const open = protocol === 'TCP' ? openTcp : openUdp
      this.#servers.set(port, await open(this.#traffic, { address: this.#address, port, hostNow }))
      return false
    } catch (error) {
      this.#traffic.log.error('port cannot be listened on', { endpoint: String(port), error: describe(error) })
      return true
    }
  }
}

interface Place {
  readonly address: string
  readonly port: number
  readonly hostNow: () => string | undefined
}

async function openTcp(traffic: Traffic, { address, port, hostNow }: Place): Promise<Listening> {
  const server = createTcpServer(traffic, hostNow)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen({ host: address, port }, resolve)
  await promise
  server.off('error', reject)
  server.on('error', (error) => traffic.log.error('port failed', { error: describe(error) }))
  const close = (): Promise<void> => new Promise((done) => server.close(() => done()))
  return { protocol: 'TCP', follow: () => {}, close }
}

async function openUdp(traffic: Traffic, { address, port, hostNow }: Place): Promise<Listening> {
  const udp = new UdpPort(traffic, address, hostNow)
  await udp.listen(address, port)
  return { protocol: 'UDP', follow: () => udp.follow(), close: () => udp.close() }
}
