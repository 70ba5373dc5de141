import { isIPv6, type LookupFunction } from 'node:net'
import type { Dispatcher, Agent as UndiciAgent } from 'undici'
import sendRequest from 'undici/lib/api/api-request.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import { AddressError, type AddressGuard } from './address.ts'
import { messageOf } from './error.ts'
import { checkTarget } from './target.ts'

/** How to reach a server, and the request to send. */
export interface StreamRequest {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /**
   * For connecting and for the headers of the response. The caller's signal also bounds the lookup
   * of the name.
   */
  readonly headersTimeoutMs: number
  /** The longest pause between two pieces of the body. */
  readonly bodyTimeoutMs: number
  readonly signal: AbortSignal
  /**
   * Allows plain http on port 80 to public addresses. It is always allowed in networks that the
   * operator listed.
   */
  readonly allowHttp?: boolean
  /** Accepts any certificate: for servers whose owner said so. */
  readonly anyCertificate?: boolean
  /** Accepts certificates of these authorities (PEM) instead of the usual ones. */
  readonly authorities?: readonly string[]
  /**
   * The operator configured this address, so the guard is skipped. Never true for an address that a
   * user or a server named.
   */
  readonly isOperators?: boolean
}

/** A response whose body is read as it arrives. Dispose of it to close the connection. */
export interface SafeStream extends AsyncDisposable {
  readonly status: number
  /** Names in lower case; repeated headers are joined with a comma. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * Whether an address of the server is in a network that the operator listed, or the operator
   * configured the server.
   */
  readonly isPrivate: boolean
  /** As sent: never decompressed. Throws SafeFetchError if it breaks off. */
  readonly body: AsyncIterable<Buffer>
}

export type OpenStream = (url: URL, request: StreamRequest) => Promise<SafeStream>

/** `message` can be shown to the user. */
export class SafeFetchError extends Error {
  readonly reason: 'address' | 'request' | 'timeout' | 'tls' | 'unreachable'

  constructor(reason: SafeFetchError['reason'], message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'SafeFetchError'
    this.reason = reason
  }
}

const maxHeaderBytes = 16 * 1024

/**
 * Opens addresses that users and servers name. Connects to the very address that the guard checked,
 * under the original name (Host, certificate). Follows no redirect and keeps no connection. Throws
 * SafeFetchError, or the signal's reason when it is aborted.
 */
export function createOpenStream(guard: AddressGuard): OpenStream {
  return async (url, options) => {
    let agent: UndiciAgent | undefined
    try {
      const addresses = options.isOperators ? undefined : await checkTarget(guard, url, options)
      agent = agentFor(addresses, options)
      const answer = await sendRequest.call(agent, { ...outgoing(url, options), signal: options.signal })
      const opened = agent
      // An unread body breaks off with its connection.
      answer.body.on('error', () => {})
      return {
        status: answer.statusCode,
        headers: joined(answer.headers),
        isPrivate: addresses?.some(guard.isAllowedPrivate) ?? true,
        body: read(answer.body, url, options),
        [Symbol.asyncDispose]: () => opened.destroy(),
      }
    } catch (thrown) {
      await agent?.destroy()
      options.signal.throwIfAborted()
      throw explain(thrown, url, options)
    }
  }
}

/** Connects to these addresses for any name; if undefined, resolves the name. */
function agentFor(addresses: readonly string[] | undefined, options: StreamRequest): UndiciAgent {
  const { headersTimeoutMs, bodyTimeoutMs, anyCertificate, authorities } = options
  const found = addresses?.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
  const checked: LookupFunction = (_hostname, wanted, done) => {
    const [first] = found ?? []
    if (wanted.all) done(null, found ?? [])
    else if (first) done(null, first.address, first.family)
  }
  return new Agent({
    connect: {
      ...(found && { lookup: checked }),
      timeout: headersTimeoutMs,
      rejectUnauthorized: anyCertificate !== true,
      ...(authorities && { ca: [...authorities] }),
    },
    allowH2: false,
    pipelining: 0,
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: headersTimeoutMs,
    bodyTimeout: bodyTimeoutMs,
  })
}

function outgoing(url: URL, options: StreamRequest): Dispatcher.RequestOptions {
  const headers = Object.entries(options.headers ?? {}).filter(([name]) => name.toLowerCase() !== 'host')
  return {
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method: options.method ?? 'GET',
    headers: Object.fromEntries(headers),
    ...(options.body === undefined ? {} : { body: options.body }),
  }
}

async function* read(body: Dispatcher.ResponseData['body'], url: URL, options: StreamRequest): AsyncGenerator<Buffer> {
  try {
    // Pieces are buffers because no encoding is ever set.
    yield* body as AsyncIterable<Buffer>
  } catch (thrown) {
    options.signal.throwIfAborted()
    throw explain(thrown, url, options)
  }
}

function joined(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const result: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) result[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value
  }
  return result
}

function explain(thrown: unknown, url: URL, { headersTimeoutMs }: StreamRequest): SafeFetchError {
  const fail = (reason: SafeFetchError['reason'], message: string): SafeFetchError =>
    new SafeFetchError(reason, message, { cause: thrown })
  const { code } = thrown instanceof Error && 'code' in thrown ? thrown : { code: undefined }
  if (thrown instanceof AddressError)
    return fail(thrown.reason === 'refused' ? 'address' : 'unreachable', thrown.message)
  if (/TIMEOUT|TIMEDOUT/.test(String(code))) return fail('timeout', lateText(url, headersTimeoutMs))
  if (code === 'UND_ERR_INVALID_ARG')
    return fail('request', `The request to ${url.host} is not valid: ${messageOf(thrown)}.`)
  if (/CERT|TLS|SSL|SELF_SIGNED|ISSUER|EPROTO/.test(String(code))) {
    return fail('tls', `The certificate or encryption of ${url.host} is not accepted (${String(code)}).`)
  }
  return fail(
    'unreachable',
    `${url.host} cannot be reached or does not answer properly (${String(code ?? messageOf(thrown))}).`,
  )
}

export const lateText = (url: URL, timeoutMs: number): string =>
  `${url.host} did not answer within ${timeoutMs / 1000} s.`
