import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { ClientRequest } from './client-message.ts'
import { readableSide } from './stream-body.ts'
import { watchEnd } from './stream-end.ts'

/** The head of an HTTP/2 request in the form of an HTTP/1.1 one. */
export interface StreamHead {
  readonly method: string
  readonly url: string
  /** Names and values in turn, as an HTTP/1.1 client would send them. */
  readonly rawHeaders: readonly string[]
  /** The protocol that the stream shall speak (RFC 8441). Undefined for usual requests. */
  readonly protocol: string | undefined
  /** Why the request is answered with 400. Undefined if nothing is known against it. */
  readonly refusal: string | undefined
  /** The size of the fields, as `SETTINGS_MAX_HEADER_LIST_SIZE` counts it (RFC 9113, 6.5.2). */
  readonly bytes: number
}

interface StreamForm {
  /** The schemes that requests of this connection may have. */
  readonly schemes: readonly string[]
  readonly hasBody: boolean
}

/** HTTP/1.1 ends a request target with a space. Other characters are for the endpoint to judge. */
const target = /^\/[\x21-\x7e\x80-\xff]*$/

/**
 * Reads the fields of an HTTP/2 request. Node.js has rejected fields of connections, invalid
 * characters, and repeated or late pseudo-header fields before (RFC 9113, 8.2 and 8.3).
 */
export function readStreamHead(fields: readonly string[], { schemes, hasBody }: StreamForm): StreamHead {
  const pseudo = new Map<string, string>()
  const rawHeaders: string[] = []
  const cookies: string[] = []
  let [isLong, bytes] = [false, 0]
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const name = fields[index] ?? ''
    const value = fields[index + 1] ?? ''
    bytes += name.length + value.length + 32
    if (name.startsWith(':')) pseudo.set(name, value)
    else if (name === 'cookie') cookies.push(value)
    else rawHeaders.push(name, value)
    isLong ||= name === 'content-length'
  }
  const method = pseudo.get(':method') ?? ''
  const protocol = method === 'CONNECT' ? pseudo.get(':protocol') : undefined
  if (protocol !== undefined) rawHeaders.push('connection', 'upgrade', 'upgrade', protocol)
  else if (hasBody && !isLong) rawHeaders.push('transfer-encoding', 'chunked')
  if (cookies.length > 0) rawHeaders.push('cookie', cookies.join('; '))
  const url = pseudo.get(':path') ?? ''
  const refusal = addAuthority(rawHeaders, pseudo.get(':authority')) ?? refusalOf(pseudo, schemes)
  return { method, url, rawHeaders, protocol, refusal, bytes }
}

/** Adds `:authority` as the Host header. Returns a refusal if the request has another one. */
function addAuthority(rawHeaders: string[], authority: string | undefined): string | undefined {
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && name === 'host')
  if (at === -1 && authority !== undefined) rawHeaders.push('host', authority)
  if (at === -1 || authority === undefined || rawHeaders[at + 1] === authority) return undefined
  return 'its Host header is not its authority'
}

function refusalOf(pseudo: ReadonlyMap<string, string>, schemes: readonly string[]): string | undefined {
  if (!schemes.includes(pseudo.get(':scheme') ?? '')) return `its scheme must be ${schemes.join(' or ')}`
  if (pseudo.has(':protocol') && pseudo.get(':method') !== 'CONNECT') return 'only CONNECT has a protocol'
  return target.test(pseudo.get(':path') ?? '') ? undefined : 'the request target must be a path'
}

/** Returns the head of a WebSocket as an HTTP/1.1 client would send it, with this key. */
export function asUpgrade(head: StreamHead, key: string): StreamHead {
  const rawHeaders = head.rawHeaders.filter((_, at, all) => all[at - (at % 2)] !== 'sec-websocket-key')
  return { ...head, method: 'GET', rawHeaders: [...rawHeaders, 'sec-websocket-key', key] }
}

/** A request that arrived as a stream of HTTP/2. */
export class StreamRequest implements ClientRequest {
  /** The version in whose form the headers are. */
  readonly httpVersion = '1.1'
  readonly method: string
  readonly url: string
  readonly rawHeaders: readonly string[]
  readonly headers: IncomingHttpHeaders
  readonly socket: Socket
  readonly #stream: ServerHttp2Stream
  readonly #isWhole: () => boolean
  #body: Readable | undefined
  #rawTrailers: readonly string[] = []

  constructor(head: StreamHead, { headers, socket, stream }: StreamParts) {
    this.method = head.method
    this.url = head.url
    this.rawHeaders = head.rawHeaders
    // Rules compare it with the origin of the page that sends the request.
    headers.host ??= headers[':authority']
    this.headers = headers
    this.socket = socket
    this.#stream = stream
    this.#isWhole = stream.endAfterHeaders ? () => true : watchEnd(stream)
    // They may arrive before the body is read.
    if (headers.trailer !== undefined) {
      stream.once('trailers', (_headers: unknown, _flags: unknown, raw: readonly string[]) => {
        this.#rawTrailers = raw
      })
    }
  }

  get complete(): boolean {
    return this.#stream.endAfterHeaders || (this.#stream.readableEnded && this.#isWhole())
  }

  get rawTrailers(): readonly string[] {
    return this.#rawTrailers
  }

  /** Nothing of the body is read before the first use. */
  get body(): Readable {
    this.#body ??= readableSide(this.#stream, this.#isWhole)
    return this.#body
  }
}

export interface StreamParts {
  readonly headers: IncomingHttpHeaders
  /** The connection, whose other end is the client. */
  readonly socket: Socket
  readonly stream: ServerHttp2Stream
}
