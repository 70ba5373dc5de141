import type { Server } from 'node:net'
import { after } from './clock.ts'
import { describe } from './log.ts'
import { createTcpServer } from './tcp.ts'
import type { Traffic } from './traffic.ts'

/** Ports that belong to another program are asked for again after so long. */
const againMs = 1_000

/**
 * Listens on the ports of this machine that the table names, beside that of HTTP. Connections outlive their route: they end when one of
 * their sides does.
 */
export class Ports {
  readonly #traffic: Traffic
  readonly #address: string
  readonly #servers = new Map<number, Server>()
  #hosts = new Map<number, string>()
  #taken: readonly number[] = []
  #turn: Promise<void> = Promise.resolve()
  #cancelAgain = (): void => {}
  #closed = false

  constructor(traffic: Traffic, address: string) {
    this.#traffic = traffic
    this.#address = address
  }

  /** Ports of the table that could not be listened on: another program has them. */
  get taken(): readonly number[] {
    return this.#taken
  }

  /** To be called after every new table; settles once its ports are listened on, or are known to be taken. Never rejects. */
  look(): Promise<void> {
    this.#turn = this.#turn.then(() => this.#follow())
    return this.#turn
  }

  /** Takes no new connections; settles once those that are open have ended. */
  async close(): Promise<void> {
    this.#closed = true
    this.#cancelAgain()
    await this.#turn
    await Promise.all([...this.#servers.values()].map((server) => new Promise((resolve) => server.close(resolve))))
  }

  async #follow(): Promise<void> {
    if (this.#closed) return
    this.#cancelAgain()
    const listed = this.#traffic.routes.table.routes.flatMap(({ listen, host }) =>
      listen ? [{ ...listen, host }] : [],
    )
    this.#hosts = new Map(listed.map(({ port, host }) => [port, host]))
    for (const [port, server] of this.#servers) {
      if (this.#hosts.has(port)) continue
      this.#servers.delete(port)
      server.close()
    }
    const missing = listed.filter(({ port }) => !this.#servers.has(port)).map(({ port }) => port)
    const failed = await Promise.all(missing.map((port) => this.#listen(port)))
    this.#taken = missing.filter((_, index) => failed[index])
    if (this.#taken.length > 0) this.#cancelAgain = after(againMs, () => void this.look())
  }

  /** Gives whether it failed. */
  async #listen(port: number): Promise<boolean> {
    const server = createTcpServer(this.#traffic, () => this.#hosts.get(port))
    const { promise, resolve } = Promise.withResolvers<Error | undefined>()
    server.once('error', resolve)
    server.listen({ host: this.#address, port }, () => resolve(undefined))
    const error = await promise
    if (error) {
      this.#traffic.log.error('port cannot be listened on', { endpoint: String(port), error: describe(error) })
      return true
    }
    server.off('error', resolve)
    server.on('error', (late) => this.#traffic.log.error('port failed', { error: describe(late) }))
    this.#servers.set(port, server)
    return false
  }
}
