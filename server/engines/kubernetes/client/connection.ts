import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { isIP, isIPv6, type LookupFunction } from 'node:net'
import type { AddressGuard } from '../../../lib/address.ts'
import { systemClock } from '../../../lib/clock.ts'
import { startDeadline } from '../../../lib/deadline.ts'
import { messageOf } from '../../../lib/error.ts'
import { ForeignJsonProblem, nearby, parseForeign } from '../../../lib/foreign-json.ts'
import { shapeOf } from '../../../lib/json-shape.ts'
import type { KubeAccess } from './access.ts'
import { endedCredential } from './credential-end.ts'
import { errorOfAnswer, errorOfConnection, KubeError } from './kube-error.ts'

/** One request to an API server. */
export interface KubeRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Begins with `/api`. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  readonly contentType?: string
  /** The form of the answer. JSON of the object itself by default. */
  readonly accept?: string | undefined
  /** The time until the answer begins. Thirty seconds by default. */
  readonly timeoutMs?: number
  /** The longest time in which an answer brings nothing. Without it, an answer may pause. */
  readonly silenceMs?: number
}

/** The target of every connection: TLS, credentials, and the check of its address. */
export interface KubeTarget {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly tls: {
    readonly ca?: string
    readonly cert?: string
    readonly key?: string
    readonly servername?: string
    readonly lookup: LookupFunction
  }
}

interface Opened extends Omit<KubeTarget, 'headers'> {
  readonly agent: Agent
  /** Returns what has expired, if that explains a refusal. */
  readonly ended: () => Promise<string | undefined>
  readonly headers: () => Promise<KubeTarget['headers']>
}

const usualTimeoutMs = 30_000
const lookupTimeoutMs = 10_000
/** Larger answers end the request. An object has 1.5 MiB at most, and lists are read in pages. */
const longestAnswerBytes = nearby.bytes
const tooLong = 'the answer of the API server is too long'

/**
 * Sends requests to one API server, over connections that are kept. Every address is checked by the
 * guard when it is connected to. Follows no redirect and uses no proxy.
 */
export class KubeConnection {
  readonly #access: () => Promise<KubeAccess>
  readonly #guard: AddressGuard
  #opened: Promise<Opened> | undefined

  constructor({ access, guard }: { readonly access: () => Promise<KubeAccess>; readonly guard: AddressGuard }) {
    this.#access = access
    this.#guard = guard
  }

  /** Returns how to connect. Throws KubeError if the address is refused. */
  async target(): Promise<KubeTarget> {
    const { url, tls, headers } = await this.#open()
    return { url, tls, headers: await headers() }
  }

  /** Sends a request and returns the parsed answer. Throws KubeError. */
  async json(wish: KubeRequest, signal: AbortSignal): Promise<unknown> {
    return (await this.sized(wish, signal)).value
  }

  /** Returns the parsed answer and its length in bytes. Throws as `json`. */
  async sized(wish: KubeRequest, signal: AbortSignal): Promise<{ readonly value: unknown; readonly length: number }> {
    const deadline = startDeadline(wish.timeoutMs ?? usualTimeoutMs, signal)
    const json = await this.#read(wish, deadline.signal).catch((error: unknown) => {
      signal.throwIfAborted()
      if (!deadline.isOver) throw error
      throw new KubeError(0, 'Timeout', 'the API server did not answer in time', { cause: error })
    })
    try {
      const { parts, beyond } = shapeOf(json, nearby)
      if (beyond !== undefined && parts > nearby.parts) throw new KubeError(0, 'TooLong', tooLong)
      return { value: parseForeign(json), length: json.length }
    } catch (cause) {
      if (!(cause instanceof ForeignJsonProblem)) throw cause
      throw new KubeError(0, 'Unreadable', `the answer to ${wish.path} is not JSON; is it an API server?`, { cause })
    }
  }

  /**
   * Sends a request and returns the body as it arrives. Abort the signal to end it. Throws
   * KubeError.
   */
  async stream(wish: KubeRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const begun = startDeadline(wish.timeoutMs ?? usualTimeoutMs)
    const answer = await this.#send(wish, signal, begun.signal)
    // A pod without a node has a log without content: 204.
    if (answer.statusCode === 200 || answer.statusCode === 204) return answer
    const late = (): void => void answer.destroy(new Error('it does not answer in time'))
    begun.signal.addEventListener('abort', late, { once: true })
    try {
      throw await this.#refusalOf(answer)
    } finally {
      begun.signal.removeEventListener('abort', late)
    }
  }

  /** Ends all connections. */
  close(): void {
    this.#opened?.then(
      ({ agent }) => agent.destroy(),
      () => {},
    )
    this.#opened = undefined
  }

  async #read(wish: KubeRequest, signal: AbortSignal): Promise<Buffer> {
    const answer = await this.#send(wish, signal)
    const status = answer.statusCode ?? 0
    if (status >= 200 && status < 300) return bytesOf(answer)
    throw await this.#refusalOf(answer)
  }

  /** Reads an answer that is an error. One that refuses credentials says if they have expired. */
  async #refusalOf(answer: IncomingMessage): Promise<KubeError> {
    const refusal = errorOfAnswer(
      answer.statusCode ?? 0,
      (await bytesOf(answer)).toString(),
      answer.headers['retry-after'],
    )
    const { status, reason, message, retryAfterMs } = refusal
    const ended = status === 401 ? await this.#endOfCredentials() : undefined
    return ended === undefined ? refusal : new KubeError(status, reason, `${message}; ${ended}`, { retryAfterMs })
  }

  /** Returns why the credentials no longer count; undefined if that is unknown. */
  async #endOfCredentials(): Promise<string | undefined> {
    try {
      return await (await this.#open()).ended()
    } catch (error) {
      return `its credentials cannot be read: ${messageOf(error)}`
    }
  }

  /** `late` ends the wait for the beginning of the answer, `signal` the whole request. */
  async #send(wish: KubeRequest, signal: AbortSignal, late?: AbortSignal): Promise<IncomingMessage> {
    const { url, agent, headers, tls } = await this.#open()
    const credentials = await headers()
    signal.throwIfAborted()
    const body = wish.body === undefined ? undefined : JSON.stringify(wish.body)
    const options = {
      ...tls,
      agent,
      method: wish.method ?? 'GET',
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port || 443,
      path: `${url.pathname.replace(/\/$/, '')}${wish.path}${queryOf(wish.query)}`,
      headers: {
        ...credentials,
        accept: wish.accept ?? 'application/json',
        ...(body !== undefined && {
          'content-type': wish.contentType ?? 'application/json',
          'content-length': Buffer.byteLength(body),
        }),
      },
      signal,
      ...(wish.silenceMs !== undefined && { timeout: wish.silenceMs }),
    }
    return new Promise((resolve, reject) => {
      const sent = request(options, (answer) => {
        late?.removeEventListener('abort', end)
        sent.on('timeout', () => answer.destroy(new KubeError(0, 'Silent', 'the API server no longer sends changes')))
        resolve(answer)
      })
      const end = (): void => void sent.destroy(new Error('it does not answer'))
      late?.addEventListener('abort', end, { once: true })
      sent.on('error', (error) => {
        late?.removeEventListener('abort', end)
        reject(signal.aborted ? signal.reason : errorOfConnection(url.host, error))
      })
      sent.end(body)
    })
  }

  #open(): Promise<Opened> {
    this.#opened ??= this.#connect().catch((error: unknown) => {
      this.#opened = undefined
      throw error
    })
    return this.#opened
  }

  async #connect(): Promise<Opened> {
    const { server, authority, serverName, token, readToken, certificate, key } = await this.#access()
    const url = new URL(server)
    if (url.protocol !== 'https:') throw new KubeError(0, 'Refused', `the API server ${url.host} must use https`)
    const host = url.hostname.replace(/^\[|\]$/g, '')
    // Node.js asks `lookup` for names only.
    if (isIP(host) !== 0)
      await this.#check(host).catch((error: unknown) => Promise.reject(errorOfConnection(url.host, error)))
    const currentToken = async () => (readToken ? readToken() : token)
    return {
      url,
      ended: async () => endedCredential({ certificate, token: (await currentToken())?.reveal() }, systemClock.now()),
      agent: new Agent({ keepAlive: true, keepAliveMsecs: 15_000, maxFreeSockets: 16, timeout: 0 }),
      headers: async () => {
        const current = await currentToken()
        return current ? { authorization: `Bearer ${current.reveal()}` } : {}
      },
      tls: {
        ...(authority && { ca: authority }),
        ...(certificate && key && { cert: certificate, key: key.reveal() }),
        // The name of an address must not be sent.
        ...((serverName ?? (isIP(host) === 0 ? host : undefined)) && { servername: serverName ?? host }),
        lookup: (hostname, wanted, done) => {
          this.#check(hostname).then(
            (addresses) => {
              const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
              const [first] = found
              if (wanted.all) done(null, found)
              else if (first) done(null, first.address, first.family)
            },
            (error: Error) => done(error, ''),
          )
        },
      },
    }
  }

  #check(host: string): Promise<readonly string[]> {
    return this.#guard.check(host, AbortSignal.timeout(lookupTimeoutMs))
  }
}

function queryOf(query: KubeRequest['query']): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) params.set(name, String(value))
  return params.size === 0 ? '' : `?${params}`
}

async function bytesOf(answer: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  let length = 0
  try {
    for await (const piece of answer) {
      // No encoding is set, so pieces are buffers.
      pieces.push(piece as Buffer)
      length += (piece as Buffer).length
      if (length > longestAnswerBytes) throw new KubeError(0, 'TooLong', tooLong)
    }
  } catch (error) {
    throw errorOfConnection('', error)
  }
  return Buffer.concat(pieces)
}
