import type { Socket } from 'node:net'
import { clientGroup } from '@quayside/contract/forwarded.ts'
import { addressOf } from './client-address.ts'
import { after } from './clock.ts'
import { limits } from './limits.ts'
import type { Traffic } from './traffic.ts'

/** How many connections there may be at one port. */
export interface ConnectionLimits {
  readonly total: number
  /** Of one client: an IPv4 address or an IPv6 network of 64 bits. */
  readonly perClient: number
}

export const usualConnections: ConnectionLimits = { total: 10_000, perClient: 1_000 }

/** Of all connections, what one trusted proxy may have: it stands for many clients. */
const shareOfProxy = 0.9

/** How many things each client has. */
export class Shares {
  readonly #counts = new Map<string, number>()

  /** False if the client has that many already. */
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

interface Entry {
  readonly client: string
  /** Requests that are open on it. */
  open: number
  /** Bytes in both directions when it was last looked at. */
  bytes: number
}

/**
 * The connections of one port. A client has at most its share of them. When all are taken, the one that has been idle for the longest time makes room; if
 * none is idle, a new one is refused.
 */
export class Connections {
  readonly #limits: ConnectionLimits
  readonly #trusts: (address: string) => boolean
  readonly #entries = new Map<Socket, Entry>()
  /** The longest idle first. */
  readonly #idle = new Set<Socket>()
  readonly #shares = new Shares()
  #cancelLook: (() => void) | undefined

  constructor(most: ConnectionLimits, trusts: (address: string) => boolean) {
    this.#limits = most
    this.#trusts = trusts
  }

  /**
   * Counts a new connection, idle until `begin`. Returns false if the limit is reached; the caller
   * then closes it.
   */
  admit(socket: Socket): boolean {
    const address = addressOf(socket)
    const client = clientGroup(address)
    const { total, perClient } = this.#limits
    const share = this.#trusts(address) ? Math.max(perClient, Math.floor(total * shareOfProxy)) : perClient
    if (!this.#shares.take(client, share)) return false
    if (this.#entries.size >= total && !this.#makeRoom()) {
      this.#shares.release(client)
      return false
    }
    this.#entries.set(socket, { client, open: 0, bytes: 0 })
    this.#idle.add(socket)
    socket.once('close', () => this.#forget(socket))
    return true
  }

  /** A request is open on it. */
  begin(socket: Socket): void {
    const entry = this.#entries.get(socket)
    if (!entry) return
    entry.open++
    this.#idle.delete(socket)
  }

  end(socket: Socket): void {
    const entry = this.#entries.get(socket)
    if (!entry) return
    entry.open--
    if (entry.open === 0) this.#idle.add(socket)
  }

  /** From now on connections are as idle as they are silent: for bytes that are not requests. */
  watchSilence(): void {
    this.#cancelLook ??= after(limits.silenceMs, () => {
      this.#cancelLook = undefined
      this.#look()
      if (this.#entries.size > 0) this.watchSilence()
    })
  }

  #look(): void {
    for (const [socket, entry] of this.#entries) {
      const bytes = socket.bytesRead + socket.bytesWritten
      if (bytes === entry.bytes) continue
      entry.bytes = bytes
      // To the end: it was the last one that was heard of.
      this.#idle.delete(socket)
      this.#idle.add(socket)
    }
  }

  #makeRoom(): boolean {
    const [longest] = this.#idle
    if (!longest) return false
    this.#forget(longest)
    longest.destroy()
    return true
  }

  #forget(socket: Socket): void {
    const entry = this.#entries.get(socket)
    if (!entry) return
    this.#entries.delete(socket)
    this.#idle.delete(socket)
    this.#shares.release(entry.client)
  }
}

/** Closes a connection beyond the limit without reading from it. */
export function refuseConnection({ counts, log }: Pick<Traffic, 'counts' | 'log'>, socket: Socket): void {
  counts.refused++
  log.warn('connection refused: its client has as many as it may, or no other one is idle', {
    endpoint: addressOf(socket),
  })
  socket.on('error', () => socket.destroy())
  socket.resetAndDestroy()
}
