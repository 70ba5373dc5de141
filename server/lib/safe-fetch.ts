import { isIPv6, type LookupFunction } from 'node:net'
import { Agent, type Dispatcher, request } from 'undici'
import { AddressError, type AddressGuard } from './address.ts'
import { messageOf } from './error.ts'
import { checkTarget } from './target.ts'

export interface SafeRequest {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** For the whole exchange: looking the name up, connecting, sending, and reading the body. */
  readonly timeoutMs: number
  readonly maxResponseBytes: number
  readonly signal: AbortSignal
  /** Plain http, port 80, also to public addresses. In networks that the operator listed it is always allowed. */
  readonly allowHttp?: boolean
  /** Takes any certificate: for servers whose owner said so. */
  readonly anyCertificate?: boolean
}

export interface SafeResponse {
  readonly status: number
  /** Names in lower case; repeated headers are joined with a comma. */
  readonly headers: Readonly<Record<string, string>>
  /** As sent: never decompressed. */
  readonly body: Buffer
  /** The body is not whole: it was longer than allowed, too slow, or the connection broke after the headers. */
  readonly truncated: boolean
}

export type SafeFetch = (url: string | URL, request: SafeRequest) => Promise<SafeResponse>

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
 * The only way to addresses that users choose: connects to the very address that was checked, under the original name (Host,
 * certificate), follows no redirect, keeps no connection. Throws SafeFetchError, or the signal's reason when it is aborted.
 */
export function createSafeFetch(guard: AddressGuard): SafeFetch {
  return async (target, options) => {
    const timeout = AbortSignal.timeout(options.timeoutMs)
    const signal = AbortSignal.any([options.signal, timeout])
    const url = URL.parse(String(target))
    if (!url) throw new SafeFetchError('address', 'The address is not a valid URL.')
    let agent: Agent | undefined
    try {
      agent = agentFor(await checkTarget(guard, url, { ...options, signal }), options)
      const answer = await request(url, { ...outgoing(options), dispatcher: agent, signal })
      const { body, truncated } = await readBody(answer.body, options)
      return { status: answer.statusCode, headers: joined(answer.headers), body, truncated }
    } catch (thrown) {
      options.signal.throwIfAborted()
      throw explain(thrown, url, timeout.aborted, options.timeoutMs)
    } finally {
      await agent?.destroy()
    }
  }
}

/** Connects to these addresses whatever name is asked for. */
function agentFor(addresses: readonly string[], { timeoutMs, anyCertificate }: SafeRequest): Agent {
  const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
  const checked: LookupFunction = (_hostname, options, done) => {
    const [first] = found
    if (options.all) done(null, found)
    else if (first) done(null, first.address, first.family)
  }
  return new Agent({
    connect: { lookup: checked, timeout: timeoutMs, rejectUnauthorized: anyCertificate !== true },
    allowH2: false,
    pipelining: 0,
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  })
}

function outgoing(options: SafeRequest): Pick<Dispatcher.RequestOptions, 'method' | 'headers' | 'body'> {
  const headers = Object.entries(options.headers ?? {}).filter(([name]) => name.toLowerCase() !== 'host')
  return {
    method: options.method ?? 'GET',
    headers: Object.fromEntries(headers),
    ...(options.body === undefined ? {} : { body: options.body }),
  }
}

/** At most `maxResponseBytes`. Whatever goes wrong after the headers only shortens the body: the status is known. */
async function readBody(
  stream: Dispatcher.ResponseData['body'],
  options: SafeRequest,
): Promise<{ body: Buffer; truncated: boolean }> {
  const chunks: Buffer[] = []
  let room = options.maxResponseBytes
  let truncated = false
  try {
    // Buffers as long as no encoding is set, which is nowhere done.
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, room))
      truncated = chunk.length > room
      room -= chunk.length
      if (truncated) break
    }
  } catch {
    options.signal.throwIfAborted()
    truncated = true
  }
  return { body: Buffer.concat(chunks), truncated }
}

function joined(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const result: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) result[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value
  }
  return result
}

function explain(thrown: unknown, url: URL, timedOut: boolean, timeoutMs: number): SafeFetchError {
  const fail = (reason: SafeFetchError['reason'], message: string): SafeFetchError =>
    new SafeFetchError(reason, message, { cause: thrown })
  const { code } = thrown instanceof Error && 'code' in thrown ? thrown : { code: undefined }
  if (thrown instanceof AddressError)
    return fail(thrown.reason === 'refused' ? 'address' : 'unreachable', thrown.message)
  if (timedOut || /TIMEOUT|TIMEDOUT/.test(String(code))) {
    return fail('timeout', `${url.host} did not answer within ${timeoutMs / 1000} s.`)
  }
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
