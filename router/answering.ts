import { ServerResponse } from 'node:http'
import type { Dispatcher } from 'undici'
import type { ClientResponse } from './client-message.ts'
import { after } from './clock.ts'
import { trailerPairs } from './response-head.ts'

/**
 * Up to this size, a body is joined with its headers as a string. That costs one copy and saves a
 * system call.
 */
const wholeBytes = 16 * 1024

/**
 * The response of an endpoint on its way to the client. Data that arrived in one read leaves in one
 * write: the first chunk is held until the read is processed. A stream sends its headers before its
 * first byte of body.
 */
export class Answering {
  readonly #response: ClientResponse
  /** How long the client may accept no bytes. Undefined means no limit. */
  readonly #stallMs: number | undefined
  #held: Buffer | undefined
  #flushed = false

  constructor(response: ClientResponse, stallMs: number | undefined) {
    this.#response = response
    this.#stallMs = stallMs
  }

  begin(status: number, statusMessage: string, headers: string[]): void {
    this.#response.writeHead(status, statusMessage, headers)
    process.nextTick(flush, this)
  }

  write(chunk: Buffer, controller: Pick<Dispatcher.DispatchController, 'pause' | 'resume'>): void {
    if (!this.#flushed && !this.#held) {
      this.#held = chunk
      return
    }
    this.#writeHeld()
    this.#flushed = true
    if (this.#response.write(chunk)) return
    controller.pause()
    const cancel = this.#stallMs === undefined ? undefined : after(this.#stallMs, () => this.#response.destroy())
    this.#response.once('drain', () => {
      cancel?.()
      controller.resume()
    })
  }

  /** Throws if an endpoint's trailer cannot be passed on. */
  addTrailers(trailers: Dispatcher.DispatchController['rawTrailers']): void {
    if (Array.isArray(trailers) && trailers.length > 0) this.#response.addTrailers(trailerPairs(trailers))
  }

  end(): void {
    const held = this.#held
    this.#held = undefined
    if (!held) this.#response.end()
    else if (held.length > wholeBytes) this.#response.end(held)
    else this.#response.end(held.toString('latin1'), 'latin1')
  }

  flush(): void {
    if (this.#flushed || this.#response.writableEnded || this.#response.destroyed) return
    this.#flushed = true
    if (this.#held) this.#writeHeld()
    else sendHead(this.#response)
  }

  #writeHeld(): void {
    const held = this.#held
    this.#held = undefined
    if (held) this.#response.write(held)
  }
}

const flush = (answering: Answering): void => answering.flush()

/** Sends the headers alone. `flushHeaders` of HTTP/1.1 would change bytes that are not ASCII. */
function sendHead(response: ClientResponse): void {
  if (response instanceof ServerResponse) response.write('', 'latin1')
  else response.flushHeaders()
}
