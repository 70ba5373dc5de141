import { provideHttp3Client } from './build.ts'
import { type Field, joined, toSend } from './fields.ts'
import { startProgram } from './program.ts'

export { missingHttp3 } from './build.ts'

export interface Http3Answer {
  readonly status: number
  /** Lower-case names; values of repeated headers are joined by ', '. */
  readonly headers: Readonly<Record<string, string>>
  readonly trailers: Readonly<Record<string, string>>
  /** Each character is one byte (latin1). */
  readonly body: string
  /** The statuses of 1xx answers before it. */
  readonly early: readonly number[]
}

export interface Http3Request {
  /** GET by default. */
  readonly method?: string
  /** `/` by default. */
  readonly path?: string
  /** By default the server name, with the port unless it is 443. */
  readonly authority?: string
  /**
   * Sent as they are. A name that begins with `:` replaces that part of the request, and an empty
   * list removes it.
   */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Uint8Array
  /** Announces content-length. By default true if a body is given. */
  readonly length?: boolean
  readonly trailers?: Readonly<Record<string, string>>
  /** Resets the stream after this time. The request is rejected unless the answer was complete. */
  readonly cancelAfterMs?: number
}

/** Facts of a connection after its handshake. */
export interface Http3Connection {
  readonly alpn: string
  readonly resumed: boolean
  readonly used0rtt: boolean
}

/** The reaction to raw bytes. Without an error and bytes, the server did nothing. */
export interface Http3Reaction {
  readonly bytes: Uint8Array
  readonly streamError?: number
  readonly connectionError?: number
}

export interface Http3Load {
  readonly count: number
  readonly open: number
  readonly connections: number
  readonly path?: string
}

export interface Http3Figures {
  /** How often each status came. */
  readonly answered: Readonly<Record<string, number>>
  readonly failed: readonly string[]
  readonly seconds: number
  readonly p99Ms: number
}

export interface Http3Client {
  /**
   * Sends a request over the client's connection, which is opened when needed. Rejects with the
   * QUIC or HTTP/3 error.
   */
  ask(request?: Http3Request): Promise<Http3Answer>
  /**
   * Opens a new connection in place of the previous one, and returns its facts after the handshake.
   * It resumes a session, with early data, if the server issued a ticket before. Tickets come
   * after the handshake: they are there once an answer is.
   */
  connect(): Promise<Http3Connection>
  /**
   * Writes raw bytes on a new stream, optionally ends it, and returns the bytes of the answer, or
   * the error code with which stream or connection was closed. The control stream and SETTINGS were
   * sent before. It waits 30 seconds for the end of a bidirectional stream, and one second for a
   * reaction to a unidirectional one.
   */
  raw(
    bytes: Uint8Array,
    options?: { readonly end?: boolean; readonly kind?: 'bidirectional' | 'unidirectional' },
  ): Promise<Http3Reaction>
  /** Sends `count` GET requests, `open` at the same time, over `connections` new connections. */
  load(options: Http3Load): Promise<Http3Figures>
  /** Closes the connection; the next `ask` opens another. */
  close(): Promise<void>
}

export interface Http3ClientOptions {
  readonly port: number
  /** 127.0.0.1 by default. */
  readonly host?: string
  readonly serverName: string
  /** The certificate that the server's is issued by, or its own, in PEM format. */
  readonly ca: string
}

/** Starts a client, which ends with the test. Returns undefined if this machine cannot build it. */
export async function startHttp3Client(
  t: { after(work: () => Promise<void>): void },
  { port, host = '127.0.0.1', serverName, ca }: Http3ClientOptions,
): Promise<Http3Client | undefined> {
  const file = await provideHttp3Client()
  if (file === undefined) return undefined
  const program = startProgram(file, [`${host}:${port}`, serverName, ca])
  t.after(program.stop)
  const authority = port === 443 ? serverName : `${serverName}:${port}`
  return {
    ask: async (request = {}) => {
      const answer = await program.ask<SentAnswer>('ask', toSend(request, authority))
      return { ...answer, headers: joined(answer.headers), trailers: joined(answer.trailers) }
    },
    connect: () => program.ask<Http3Connection>('connect'),
    raw: async (bytes, { end = false, kind = 'bidirectional' } = {}) => {
      const sent = { bytes: Buffer.from(bytes).toString('latin1'), end, kind }
      const reaction = await program.ask<Omit<Http3Reaction, 'bytes'> & { readonly bytes: string }>('raw', sent)
      return { ...reaction, bytes: Buffer.from(reaction.bytes, 'latin1') }
    },
    load: ({ path = '/', ...numbers }) =>
      program.ask<Http3Figures>('load', { ...numbers, fields: toSend({ path }, authority).fields }),
    close: async () => void (await program.ask('close')),
  }
}

interface SentAnswer extends Omit<Http3Answer, 'headers' | 'trailers'> {
  readonly headers: readonly Field[]
  readonly trailers: readonly Field[]
}
