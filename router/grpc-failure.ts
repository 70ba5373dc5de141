import type { ClientRequest, ClientResponse } from './client-message.ts'
import type { Failure } from './pages.ts'

/** https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md, and one for sizes. */
const statuses: Readonly<Partial<Record<Failure['status'], number>>> = {
  400: 13,
  401: 16,
  403: 7,
  404: 12,
  405: 12,
  413: 8,
  429: 14,
  431: 8,
  502: 14,
  503: 14,
  504: 14,
}
const unknown = 2

/** Whether a client expects the result of its request as a status of gRPC. */
export const isGrpc = ({ headers }: ClientRequest): boolean =>
  headers['content-type']?.startsWith('application/grpc') ?? false

/** Answers a call of gRPC with the status of a failure, also after a response has begun. */
export function answerGrpc(response: ClientResponse, failure: Failure): void {
  const status = String(statuses[failure.status] ?? unknown)
  const message = failure.message.toWellFormed().replace(/[^ -$&-~]/gu, encodeURIComponent)
  if (response.headersSent) {
    response.addTrailers([
      ['grpc-status', status],
      ['grpc-message', message],
    ])
  } else {
    response.writeHead(200, ['content-type', 'application/grpc', 'grpc-status', status, 'grpc-message', message])
  }
  response.end()
}

/**
 * Statuses that usually mean that the server failed: UNKNOWN, INTERNAL, UNAVAILABLE and DATA_LOSS.
 * A client causes DEADLINE_EXCEEDED and UNIMPLEMENTED with any server.
 */
const failures = new Set(['2', '13', '14', '15'])

/** The head and the end of a response, as names and values in turn. */
export interface RawAnswer {
  readonly rawHeaders?: unknown
  readonly rawTrailers?: unknown
}

/**
 * Whether a whole response with the HTTP status 200 is a call of gRPC at which the server failed.
 * Without a status of gRPC it did
 * (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md). Calls of gRPC-Web never count:
 * their status is in the body.
 */
export function hasFailedCall({ rawHeaders, rawTrailers }: RawAnswer): boolean {
  const type = lastValue(rawHeaders, 'content-type') ?? ''
  if (!type.startsWith('application/grpc') || type.startsWith('application/grpc-web')) return false
  const found = lastValue(rawTrailers, 'grpc-status') ?? lastValue(rawHeaders, 'grpc-status')
  return found === undefined || failures.has(found)
}

function lastValue(raw: unknown, name: string): string | undefined {
  const fields: readonly unknown[] = Array.isArray(raw) ? raw : []
  const at = fields.findLastIndex((field, index) => index % 2 === 0 && String(field).toLowerCase() === name)
  return at === -1 ? undefined : String(fields[at + 1])
}
