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
