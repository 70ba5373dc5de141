import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import { endConnection } from './end-connection.ts'
import { type Failure, pageFor } from './pages.ts'
import { responseHeaders } from './response-head.ts'
import { canSend, StreamResponse, sendable } from './stream-response.ts'
import type { UpgradeReply } from './upgrade-reply.ts'

/** The handshake of a WebSocket with an endpoint, which HTTP/2 does not have (RFC 8441, 5). */
export interface WebSocketKey {
  readonly key: string
  /** The value of `Sec-WebSocket-Accept` by which the endpoint proves that it read the key. */
  readonly accept: string
}

/** RFC 6455, 1.3. */
const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

export function newWebSocketKey(): WebSocketKey {
  const key = randomBytes(16).toString('base64')
  return { key, accept: createHash('sha1').update(`${key}${guid}`).digest('base64') }
}

/** Headers of the answer of an endpoint that have no meaning in a stream of HTTP/2. */
const handshakeNames = new Set(['sec-websocket-accept', 'content-length', 'trailer'])

/**
 * Returns the reply to a WebSocket over HTTP/2 (RFC 8441). A status 2xx means that it is open, so
 * no other response may have one.
 */
export function streamReply(stream: ServerHttp2Stream, expected: string, accept: string | undefined): UpgradeReply {
  const response = new StreamResponse(stream)
  return {
    accept: ({ message, headers: ruled }) => {
      const headers = responseHeaders(ruled)
      if (!headers || message.headers['sec-websocket-accept'] !== expected || stream.headersSent) return false
      if (stream.destroyed || stream.closed) return true
      const sent = headers.filter((_, at) => !handshakeNames.has(headers[at - (at % 2)]?.toLowerCase() ?? ''))
      if (!canSend(200, sent)) return false
      stream.respond([':status', '200', ...sendable(sent)])
      return true
    },
    decline: ({ message, headers: ruled }) => {
      const headers = responseHeaders(ruled)
      const { statusCode = 502 } = message
      if (!headers || statusCode < 300 || !canSend(statusCode, headers)) return false
      response.writeHead(statusCode, headers)
      pass(message, response)
      return true
    },
    refuse: (failure) => refuse(response, failure, accept),
    // A client that does not end its side is cut off.
    end: () => endConnection(stream),
  }
}

function pass(answer: IncomingMessage, response: StreamResponse): void {
  answer.on('data', (chunk: Buffer) => {
    if (response.write(chunk)) return
    answer.pause()
    response.once('drain', () => answer.resume())
  })
  answer.once('error', () => response.destroy()).once('end', () => response.end())
}

/** Not even a call of gRPC gets a status 2xx here. */
function refuse(response: StreamResponse, failure: Failure, accept: string | undefined): void {
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  const { headers, body } = pageFor(failure, accept)
  response.writeHead(failure.status, [...headers])
  response.end(body)
}
