import { IncomingMessage, request } from 'node:http'
import type { Duplex, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'

/** One HTTP request to a program of this machine that listens on a unix socket. */
export interface SocketCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD'
  readonly path: string
  /**
   * Lists are repeated, other objects are sent as JSON, and members that are undefined are left
   * out.
   */
  readonly query?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: object
  /** Sent unchanged: a tar archive. */
  readonly file?: Buffer | Readable
  readonly signal: AbortSignal
}

/** The program refused the call. */
export class SocketRefusal extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.name = 'SocketRefusal'
    this.status = status
  }
}

export const isRefusedWith = (error: unknown, ...statuses: readonly number[]): boolean =>
  error instanceof SocketRefusal && statuses.includes(error.status)

/** Calls a program on a unix socket. Errors of the socket are thrown unchanged. */
export class SocketHttp {
  readonly #socketPath: string

  constructor(options: { readonly socketPath: string }) {
    this.#socketPath = options.socketPath
  }

  /** Returns the whole response; undefined if it is not JSON. */
  async json(call: SocketCall): Promise<unknown> {
    return parse(await text(await this.stream(call)))
  }

  /**
   * Returns a response that is read as it arrives. Throws SocketRefusal unless the status is a
   * success.
   */
  async stream(call: SocketCall): Promise<IncomingMessage> {
    const answer = await this.#send<IncomingMessage>(call, {}, (made, resolve) => made.once('response', resolve))
    if (isSuccess(answer)) return answer
    throw await refusalOf(answer)
  }

  /** Returns the connection itself, once the program has switched to the other protocol. */
  async upgrade(call: SocketCall, protocol: string): Promise<Duplex> {
    const headers = { connection: 'Upgrade', upgrade: protocol }
    const answer = await this.#send<Duplex | IncomingMessage>(call, headers, (made, resolve) => {
      made.once('response', resolve)
      made.once('upgrade', (_, socket, head) => {
        if (head.length > 0) socket.unshift(head)
        resolve(socket)
      })
    })
    if (!(answer instanceof IncomingMessage)) return answer
    if (!isSuccess(answer)) throw await refusalOf(answer)
    answer.destroy()
    throw new SocketRefusal(answer.statusCode ?? 0, `the other side did not switch to ${protocol}`)
  }

  #send<T>(
    call: SocketCall,
    headers: Readonly<Record<string, string>>,
    listen: (made: ReturnType<typeof request>, resolve: (answer: T) => void) => void,
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const { method, signal, file } = call
    const content = contentOf(call)
    const made = request({
      socketPath: this.#socketPath,
      method,
      path: `${call.path}${searchOf(call.query)}`,
      headers: { ...content.headers, ...headers, ...call.headers },
      signal,
    })
    let isAnswered = false
    made.on('error', (error) => {
      if (isAnswered || !isStale(made, call, error)) return reject(error)
      resolve(this.#send(call, headers, listen))
    })
    listen(made, (answer) => {
      isAnswered = true
      resolve(answer)
    })
    if (file !== undefined && !Buffer.isBuffer(file)) {
      file.once('error', (error) => made.destroy(error))
      made.once('close', () => file.destroy())
      file.pipe(made)
    } else made.end(content.data)
    return promise
  }
}

/**
 * Whether a kept connection closed before the program saw the call. Only calls that change nothing
 * are sent again.
 */
const isStale = ({ reusedSocket }: ReturnType<typeof request>, { method, file }: SocketCall, error: Error): boolean =>
  reusedSocket &&
  (method === 'GET' || method === 'HEAD') &&
  file === undefined &&
  'code' in error &&
  (error.code === 'ECONNRESET' || error.code === 'EPIPE')

const isSuccess = ({ statusCode = 0 }: IncomingMessage): boolean =>
  (statusCode >= 200 && statusCode < 300) || statusCode === 304

/** Returns the body and its headers. */
function contentOf({ body, file }: SocketCall): { data?: Buffer | string; headers: Record<string, string | number> } {
  if (Buffer.isBuffer(file))
    return { data: file, headers: { 'content-type': 'application/tar', 'content-length': file.length } }
  if (file) return { headers: { 'content-type': 'application/tar', 'transfer-encoding': 'chunked' } }
  if (!body) return { headers: {} }
  const data = JSON.stringify(body)
  return { data, headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(data) } }
}

function searchOf(query: SocketCall['query'] = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) search.append(name, typeof one === 'object' ? JSON.stringify(one) : String(one))
    }
  }
  return search.size === 0 ? '' : `?${search}`
}

/** Returns the program's own message, if it sent one. */
async function refusalOf(answer: IncomingMessage): Promise<SocketRefusal> {
  const said = await text(answer)
  const told = parse(said)
  const isObject = typeof told === 'object' && told !== null
  const message = isObject && 'message' in told && typeof told.message === 'string' ? told.message : said
  return new SocketRefusal(answer.statusCode ?? 0, message.trim())
}

function parse(said: string): unknown {
  try {
    return JSON.parse(said)
  } catch {
    return undefined
  }
}
