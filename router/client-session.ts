import type { ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import { after } from './clock.ts'
import { limits } from './limits.ts'

/** The life of one HTTP/2 connection: it ends when it is idle, or when the router leaves. */
export class ClientSession {
  readonly #session: ServerHttp2Session
  readonly #socket: Socket
  #open = 0
  #cancel: () => void

  /** `socket` is the connection below the session. */
  constructor(session: ServerHttp2Session, socket: Socket) {
    this.#session = session
    this.#socket = socket
    this.#cancel = after(limits.clientHeadersMs, () => this.close())
    socket.once('close', () => this.#cancel())
  }

  /** Counts one more stream. `end` must follow exactly once. */
  begin(): void {
    this.#open++
    this.#cancel()
  }

  end(): void {
    this.#open--
    if (this.#open > 0 || this.#socket.destroyed) return
    if (this.#session.closed) this.#linger()
    else this.#cancel = after(limits.clientIdleMs, () => this.close())
  }

  /**
   * Accepts no more streams. The open ones finish. The client learns which stream was the last, so
   * it can send later requests again, whatever they do (RFC 9113, 6.8).
   */
  close(): void {
    if (!this.#session.destroyed) this.#session.close()
    if (this.#open === 0) this.#linger()
  }

  /** Node.js would wait until the client has closed its side as well. */
  #linger(): void {
    this.#cancel()
    this.#cancel = after(limits.lingerMs, () => this.#socket.destroy())
  }
}
