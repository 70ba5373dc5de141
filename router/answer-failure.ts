import type { Duplex } from 'node:stream'
import type { ClientRequest, ClientResponse } from './client-message.ts'
import { endConnection } from './end-connection.ts'
import { answerGrpc, isGrpc } from './grpc-failure.ts'
import { type Failure, pageFor } from './pages.ts'
import { pageForHaproxy } from './unread-page.ts'

/**
 * Answers with an error page. If a response has begun, breaks it off so that the client notices.
 */
export function answerFailure(
  request: ClientRequest,
  response: ClientResponse,
  failure: Failure,
  { hasBody }: { readonly hasBody: boolean },
): void {
  if (isGrpc(request) && !response.destroyed) {
    answerGrpc(response, failure)
    return
  }
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  const { headers, body } = pageFor(failure, request.headers.accept)
  // An unread body must not be taken for the next request, and nobody waits for it.
  const isUnread = hasBody && !request.complete
  if (failure.status === 400 || isUnread) response.shouldKeepAlive = false
  response.writeHead(failure.status, [...headers, ...(isUnread ? pageForHaproxy(request, body) : [])])
  if (request.method === 'HEAD') response.end()
  else response.end(body)
}

/** Writes the error page to a connection that has left HTTP, then closes it. */
export function answerFailureRaw(socket: Duplex, failure: Failure, accept: string | undefined): void {
  const { headers, body } = pageFor(failure, accept)
  const lines = [`HTTP/1.1 ${failure.status} -`, 'Connection: close']
  for (let index = 0; index < headers.length; index += 2) lines.push(`${headers[index]}: ${headers[index + 1]}`)
  endConnection(socket, Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]))
}
