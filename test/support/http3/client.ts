import { provideHttp3Client } from './build.ts'
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
    close: async () => void (await program.ask('close')),
  }
}

type Field = readonly [name: string, value: string]

interface SentAnswer extends Omit<Http3Answer, 'headers' | 'trailers'> {
  readonly headers: readonly Field[]
  readonly trailers: readonly Field[]
}

function toSend(request: Http3Request, ownAuthority: string): unknown {
  const { method = 'GET', path = '/', authority = ownAuthority, headers = {}, trailers = {}, cancelAfterMs } = request
  const body = Buffer.from(request.body ?? '')
  const hasLength = request.length ?? request.body !== undefined
  const pseudo = { ':method': method, ':scheme': 'https', ':authority': authority, ':path': path }
  const length = hasLength ? { 'content-length': String(body.length) } : {}
  return {
    fields: lines({ ...pseudo, ...length, ...headers }).sort(pseudoFirst),
    body: body.toString('latin1'),
    trailers: lines(trailers),
    cancelAfterMs,
  }
}

const lines = (headers: Readonly<Record<string, string | readonly string[]>>): Field[] =>
  Object.entries(headers).flatMap(([name, values]) => [values].flat().map((value): Field => [name, value]))

const pseudoFirst = ([one]: Field, [other]: Field): number =>
  Number(other.startsWith(':')) - Number(one.startsWith(':'))

function joined(fields: readonly Field[]): Record<string, string> {
  const values = new Map<string, string>()
  for (const [name, value] of fields) values.set(name, values.has(name) ? `${values.get(name)}, ${value}` : value)
  return Object.fromEntries(values)
}
