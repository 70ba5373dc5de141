import type { Socket } from 'node:net'
import { type ConnectionLimits, ConnectionShares } from '@quayside/contract/connection-shares.ts'
import { addressOf } from './client-address.ts'
import { after } from './clock.ts'
import { limits } from './limits.ts'
import type { Traffic } from './traffic.ts'

/** The connections of one port, divided among its clients. */
export class Connections {
  readonly #shares: ConnectionShares<Socket>
  /** Bytes in both directions at the last check of a connection. */
  readonly #bytes = new WeakMap<Socket, number>()
  #cancelLook: (() => void) | undefined
  /** Each connection ends after its current response. */
  isLeaving = false

  constructor(most: ConnectionLimits, trusts: (address: string) => boolean) {
    this.#shares = new ConnectionShares(most, trusts)
  }

  /**
   * Counts a new connection, idle until `begin`. Returns false if there is no room: the caller
   * closes it.
   */
  admit(socket: Socket): boolean {
    const admission = this.#shares.admit(socket, addressOf(socket))
    if (!admission.isAdmitted) return false
    admission.closes?.destroy()
    socket.once('close', () => this.#shares.forget(socket))
    return true
  }

  /**
   * Counts a connection as one of the client that its proxy has named. Returns false if that client
   * has its share already: the caller closes it.
   */
  rename(socket: Socket): boolean {
    return this.#shares.rename(socket, addressOf(socket))
  }

  /** Marks a connection as busy with a request. */
  begin(socket: Socket): void {
    this.#shares.begin(socket)
  }

  end(socket: Socket): void {
    this.#shares.end(socket)
  }

  /**
   * Closes the connections on which no byte has arrived. Once its listener is closed, Node.js does
   * not limit their time any more.
   */
  closeSilent(): void {
    for (const socket of this.#shares.all) if (socket.bytesRead === 0) socket.destroy()
  }

  closeAll(): void {
    for (const socket of this.#shares.all) socket.destroy()
  }

  /** Treats silent connections as idle from now on. For TCP ports, which have no requests. */
  watchSilence(): void {
    this.#cancelLook ??= after(limits.silenceMs, () => {
      this.#cancelLook = undefined
      this.#look()
      if (this.#shares.size > 0) this.watchSilence()
    })
  }

  #look(): void {
    for (const socket of this.#shares.all) {
      const bytes = socket.bytesRead + socket.bytesWritten
      if (bytes === (this.#bytes.get(socket) ?? 0)) continue
      this.#bytes.set(socket, bytes)
      this.#shares.touch(socket)
    }
  }
}

/** Resets a connection for which there is no room. Reads nothing from it. */
export function refuseConnection({ counts, log }: Pick<Traffic, 'counts' | 'log'>, socket: Socket): void {
  counts.refused++
  log.warn('connection refused: its client is at its limit, or the port is full and no connection is idle', {
    endpoint: addressOf(socket),
  })
  socket.on('error', () => socket.destroy())
  socket.resetAndDestroy()
}
