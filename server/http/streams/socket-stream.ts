import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { RawData, WebSocket } from 'ws'
import type { Authorized } from '../../access/index.ts'
import type { AppError } from '../../lib/error.ts'
import type { Outlet } from '../../streams/index.ts'
import type { OpenStream } from './open-streams.ts'

/**
 * The close codes of the server, as the API defines them. 1007 and 1008 are final; after 1011 the
 * client may reconnect.
 */
export const closeCodes = { done: 1000, badQuery: 1007, refused: 1008, again: 1011 } as const

/** The most bytes that are queued for a client that does not read. */
const longestQueueBytes = 256 * 1024
const longestReasonBytes = 123

export interface SocketStreamOptions {
  readonly webSocket: WebSocket
  readonly socket: Socket
  readonly key: string
  readonly check: () => Promise<Authorized>
  readonly onRenew: (authorized: Authorized) => void
}

/** A WebSocket: an open stream, and the outlet for its messages. */
export class SocketStream implements OpenStream, Outlet {
  readonly socket: Socket
  readonly key: string
  readonly check: () => Promise<Authorized>
  readonly renew: (authorized: Authorized) => void
  readonly #webSocket: WebSocket
  readonly #closed = new AbortController()
  #hasAnswered = true

  constructor({ webSocket, socket, key, check, onRenew }: SocketStreamOptions) {
    this.socket = socket
    this.key = key
    this.check = check
    this.renew = onRenew
    this.#webSocket = webSocket
    webSocket.on('pong', () => {
      this.#hasAnswered = true
    })
    webSocket.on('close', () => this.#closed.abort())
    // The close that follows has the reason.
    webSocket.on('error', () => {})
  }

  /** Aborted when the connection ends. */
  get signal(): AbortSignal {
    return this.#closed.signal
  }

  send(message: unknown): Promise<void> {
    return this.#put(JSON.stringify(message))
  }

  async carry(other: Duplex, onText?: (text: string) => void): Promise<void> {
    const onMessage = (message: RawData, isBinary: boolean): void => {
      // The server uses the default form of messages: one buffer.
      const data = message as Buffer
      if (!isBinary && onText) onText(data.toString())
      // The queue counts bytes, so empty messages would fill it without a limit.
      else if (data.length > 0 && other.writable && !other.write(data)) this.#webSocket.pause()
    }
    other.on('drain', () => this.#webSocket.resume())
    this.#webSocket.on('message', onMessage)
    this.#webSocket.resume()
    const onClose = (): void => void other.destroy()
    this.signal.addEventListener('abort', onClose, { once: true })
    try {
      if (this.signal.aborted) return
      for await (const chunk of other) await this.#put(chunk)
    } catch (error) {
      if (!this.signal.aborted) throw error
    } finally {
      this.#webSocket.off('message', onMessage)
      other.destroy()
    }
  }

  beat(): void {
    if (!this.#hasAnswered) this.#webSocket.terminate()
    else this.#webSocket.ping()
    this.#hasAnswered = false
  }

  end(error?: AppError): void {
    if (error) this.close(closeCodes.refused, error.message)
    else this.close(closeCodes.again, 'The server is shutting down or cannot check rights now; connect again.')
  }

  close(code: number, reason: string): void {
    const bytes = Buffer.from(reason)
    let end = Math.min(bytes.length, longestReasonBytes)
    while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
    this.#webSocket.resume()
    this.#webSocket.close(code, bytes.subarray(0, end))
  }

  /** Sends data. Resolves once the queue has room again, and at once after the end. */
  async #put(data: string | Buffer): Promise<void> {
    if (this.#webSocket.readyState !== this.#webSocket.OPEN) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#webSocket.send(data, () => resolve())
    if (this.#webSocket.bufferedAmount > longestQueueBytes) await promise
  }
}
