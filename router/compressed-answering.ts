import type { Answering } from './answering.ts'
import type { ClientResponse } from './client-message.ts'
import type { Compressor } from './compressors.ts'

/** Chunks are joined up to this size, or until the read that has them is processed. */
const joinedBytes = 64 * 1024

/**
 * The response of an endpoint on its way through a compressor. A stream is flushed after each read,
 * so the client sees every event at once. A client that reads slowly stops the endpoint.
 */
export class CompressedAnswering {
  readonly #answering: Answering
  readonly #compressor: Compressor
  readonly #isStream: boolean
  #pending: Buffer[] = []
  #pendingBytes = 0
  #flow: Flow | undefined

  constructor(
    answering: Answering,
    response: ClientResponse,
    { compressor, isStream }: { readonly compressor: Compressor; readonly isStream: boolean },
  ) {
    this.#answering = answering
    this.#compressor = compressor
    this.#isStream = isStream
    const flow = { pause: () => void compressor.pause(), resume: () => void compressor.resume() }
    compressor.on('data', (chunk: Buffer) => answering.write(chunk, flow))
    compressor.once('end', () => answering.end())
    compressor.once('error', () => response.destroy())
    response.on('close', () => compressor.destroy())
    if (response.destroyed) compressor.destroy()
  }

  begin(...[status, message, headers]: Parameters<Answering['begin']>): void {
    this.#answering.begin(status, message, headers)
  }

  write(chunk: Buffer, flow: Flow): void {
    if (this.#compressor.destroyed) return
    this.#flow = flow
    if (this.#pending.length === 0) setImmediate(() => this.#send())
    this.#pending.push(chunk)
    this.#pendingBytes += chunk.length
    if (this.#pendingBytes >= joinedBytes) this.#send()
  }

  addTrailers(trailers: Parameters<Answering['addTrailers']>[0]): void {
    this.#answering.addTrailers(trailers)
  }

  end(): void {
    // Its connection may carry the next request.
    this.#flow = undefined
    this.#send()
    if (!this.#compressor.destroyed) this.#compressor.end()
  }

  #send(): void {
    const [pending, flow] = [this.#pending, this.#flow]
    if (pending.length === 0 || this.#compressor.destroyed) return
    this.#pending = []
    this.#pendingBytes = 0
    const isAccepted = this.#compressor.write(Buffer.concat(pending))
    if (this.#isStream && !this.#compressor.writableEnded) this.#compressor.flush()
    if (isAccepted || !flow) return
    flow.pause()
    this.#compressor.once('drain', () => flow.resume())
  }
}

/** Stops and continues the reading of the endpoint. */
interface Flow {
  pause(): void
  resume(): void
}
