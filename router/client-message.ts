import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'

/** A request of a client, as far as the router reads it. Node.js has it for HTTP/1.1. */
export interface ClientRequest {
  readonly method?: string | undefined
  /** The request target. */
  readonly url?: string | undefined
  readonly headers: IncomingHttpHeaders
  /** Names and values in turn, as sent. */
  readonly rawHeaders: readonly string[]
  readonly httpVersion: string
  readonly socket: Socket
  /** Names and values of the trailers in turn, as sent. Empty until the body has ended. */
  readonly rawTrailers: readonly string[]
  /** Whether the whole body has arrived. */
  readonly complete: boolean
  /** The body. Undefined: the request is the stream of its body. */
  readonly body?: Readable
}

/** Returns the body of a request. It is empty if the request is not a stream and has none. */
export const bodyOf = (request: ClientRequest): Readable =>
  request.body ?? (request instanceof Readable ? request : Readable.from([]))

/** A response to a client, as far as the router writes it. Node.js has it for HTTP/1.1. */
export interface ClientResponse {
  /** Whether the connection stays open. Has no effect with HTTP/2. */
  shouldKeepAlive: boolean
  /** The status, once the head is written. */
  readonly statusCode: number
  readonly headersSent: boolean
  readonly writableEnded: boolean
  readonly destroyed: boolean
  writeContinue(): void
  /** Sends a response with status 103. Undefined: this client does not get it. */
  writeHints?(headers: readonly string[]): void
  writeHead(status: number, headers: string[]): unknown
  writeHead(status: number, message: string, headers: string[]): unknown
  flushHeaders(): void
  /** Returns false if the client must accept bytes before the next write. */
  write(chunk: Buffer): boolean
  addTrailers(pairs: [string, string][]): void
  end(): unknown
  end(chunk: Buffer): unknown
  end(chunk: string, encoding: 'latin1'): unknown
  /** Ends the response so that the client notices that it is incomplete. */
  destroy(): unknown
  on(event: 'close' | 'drain', listener: () => void): unknown
  once(event: 'close' | 'drain', listener: () => void): unknown
}
