import { clientGroup } from './forwarded.ts'

/** The connection limits of a port, for the router and the API server. */
export interface ConnectionLimits {
  readonly total: number
  /** The limit of one client: an IPv4 address or an IPv6 network of 64 bits. */
  readonly perClient: number
}

export const usualConnections: ConnectionLimits = { total: 10_000, perClient: 1_000 }

/** The share of all connections that one trusted proxy may have, because it serves many clients. */
const shareOfProxy = 0.9

/** Counts the connections or sessions of each client. */
export class Shares {
  readonly #counts = new Map<string, number>()

  /** Counts one more. Returns false if the client already has that many. */
  take(client: string, most: number): boolean {
    const count = this.#counts.get(client) ?? 0
    if (count >= most) return false
    this.#counts.set(client, count + 1)
    return true
  }

  release(client: string): void {
    const count = this.#counts.get(client) ?? 0
    if (count > 1) this.#counts.set(client, count - 1)
    else this.#counts.delete(client)
  }
}

/** Whether a connection is admitted, and which one the caller must close for it. */
export type Admission<Connection> =
  | { readonly isAdmitted: false }
  | { readonly isAdmitted: true; readonly closes: Connection | undefined }

/**
 * Divides the connections of one port among its clients. A client has at most its share. If all are
 * in use, the one that is idle the longest makes room. If none is idle, a new one is refused.
 */
export class ConnectionShares<Connection> {
  readonly #limits: ConnectionLimits
  readonly #trusts: (address: string) => boolean
  /** The client and the number of open requests of each connection. */
  readonly #entries = new Map<Connection, { client: string; open: number }>()
  /** Idle connections, the longest idle first. */
  readonly #idle = new Set<Connection>()
  readonly #shares = new Shares()

  constructor(limits: ConnectionLimits, trusts: (address: string) => boolean) {
    this.#limits = limits
    this.#trusts = trusts
  }

  get all(): Iterable<Connection> {
    return this.#entries.keys()
  }

  get size(): number {
    return this.#entries.size
  }

  /** Counts a new connection of this address. It is idle until `begin`. */
  admit(connection: Connection, address: string): Admission<Connection> {
    const client = clientGroup(address)
    if (!this.#shares.take(client, this.#shareOf(address))) return { isAdmitted: false }
    const [longest] = this.#idle
    const isFull = this.#entries.size >= this.#limits.total
    if (isFull && longest === undefined) {
      this.#shares.release(client)
      return { isAdmitted: false }
    }
    const closes = isFull ? longest : undefined
    if (closes !== undefined) this.forget(closes)
    this.#entries.set(connection, { client, open: 0 })
    this.#idle.add(connection)
    return { isAdmitted: true, closes }
  }

  /**
   * Counts a connection as one of this address from now on, because its proxy named its client.
   * Returns false if that client has its share already.
   */
  rename(connection: Connection, address: string): boolean {
    const entry = this.#entries.get(connection)
    const client = clientGroup(address)
    if (!entry || entry.client === client) return true
    if (!this.#shares.take(client, this.#shareOf(address))) return false
    this.#shares.release(entry.client)
    entry.client = client
    return true
  }

  /** Marks a connection as busy with a request. */
  begin(connection: Connection): void {
    const entry = this.#entries.get(connection)
    if (!entry) return
    entry.open++
    this.#idle.delete(connection)
  }

  end(connection: Connection): void {
    const entry = this.#entries.get(connection)
    if (!entry) return
    entry.open--
    if (entry.open === 0) this.#idle.add(connection)
  }

  /** Records activity: an idle connection moves to the end of the idle ones. */
  touch(connection: Connection): void {
    if (this.#idle.delete(connection)) this.#idle.add(connection)
  }

  /** Removes a closed connection. */
  forget(connection: Connection): void {
    const entry = this.#entries.get(connection)
    if (!entry) return
    this.#entries.delete(connection)
    this.#idle.delete(connection)
    this.#shares.release(entry.client)
  }

  #shareOf(address: string): number {
    const { total, perClient } = this.#limits
    return this.#trusts(address) ? Math.max(perClient, Math.floor(total * shareOfProxy)) : perClient
  }
}
