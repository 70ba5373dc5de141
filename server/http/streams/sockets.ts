import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { streamPaths, streams } from '@quayside/contract/streams.ts'
import type { FastifyInstance } from 'fastify'
import { WebSocketServer } from 'ws'
import { authorize } from '../../access/index.ts'
import { AppError, budgetSpent, errorCodes, notFound } from '../../lib/error.ts'
import { newId } from '../../lib/id.ts'
import type { Logger } from '../../lib/log.ts'
import type { Budgets } from '../budgets.ts'
import { countHeader } from '../count-header.ts'
import { errorReply, expectedError } from '../errors.ts'
import { endSocket } from './end-socket.ts'
import { type Admitted, runStream, type StreamRunOptions } from './run-stream.ts'
import { streamQueryReader } from './stream-query.ts'
import { authorizeStream } from './stream-target.ts'

export interface SocketsOptions extends StreamRunOptions {
  readonly budgets: Budgets
  /** Origins of web pages that may connect: this server's, and those that may use the API. */
  readonly origins: readonly string[]
  /** Returns why a request is rejected before anything else of it is read, if it is. */
  readonly refusal: (request: IncomingMessage) => AppError | undefined
}

const maxMessageBytes = 1024 * 1024
/** Clients show this id in their error messages. */
const requestIdHeader = 'X-Qovery-Request-Id'
const versionProtocol = 'v1'
const tokenProtocol = 'auth.bearer.'

const readers = new Map(streamPaths.map((path) => [path, streamQueryReader(streams[path])]))

/**
 * Mounts every stream of the contract as a WebSocket. The caller is authenticated before the
 * upgrade. All other errors are reported by the close code.
 */
export function mountSockets(app: FastifyInstance, options: SocketsOptions): void {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    // The selected protocol is sent back, so the one with the token is never selected.
    handleProtocols: (offered) => (offered.has(versionProtocol) ? versionProtocol : false),
  })
  const requestIds = new WeakMap<IncomingMessage, string>()
  server.on('headers', (headers, request) => headers.push(`${requestIdHeader}: ${requestIds.get(request)}`))
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const requestId = newId()
    requestIds.set(request, requestId)
    const onError = (): void => void socket.destroy()
    socket.on('error', onError)
    admit(options, request, requestId)
      .then((admitted) => {
        if (socket.destroyed) return admitted.place.release()
        socket.off('error', onError)
        socket.once('close', () => admitted.place.release())
        server.handleUpgrade(request, socket, head, (webSocket) => void runStream(options, admitted, webSocket, socket))
      })
      .catch((error: unknown) => refuse(options.log, socket, { error, requestId }))
  })
}

async function admit(options: SocketsOptions, request: IncomingMessage, requestId: string): Promise<Admitted> {
  const { database, readCredential, budgets, openStreams, origins } = options
  const refused = options.refusal(request)
  if (refused) throw refused
  const url = URL.parse(request.url ?? '', 'http://localhost')
  const path = streamPaths.find((candidate) => candidate === url?.pathname)
  if (!url || !path) throw notFound('stream')
  const authorization = authorizationOf(request)
  checkOrigin(request, origins)
  const credential = await readCredential(authorization)
  const { allowed, resetSeconds } = budgets.take(credential, request)
  if (!allowed) throw budgetSpent(resetSeconds)
  const { caller, organizationIds } = await authorize(database, credential, { access: 'read', anybody: true })
  budgets.confirm(credential, caller.organizationId)
  const stream = streams[path]
  const organizationId = url.searchParams.get('organization')?.toLowerCase() ?? ''
  // Streams of unknown or foreign organizations close at once. They count for the caller only.
  const counted = organizationIds.includes(organizationId) ? organizationId : caller.id
  const place = openStreams.reserve({ callerId: caller.id, organizationId: counted })
  const { headers } = request
  const admitted = { path, stream, authorization: authorization ?? '', headers, requestId, place }
  try {
    const query = readers.get(path)?.(url.searchParams) ?? { query: {}, command: [] }
    const found = await authorizeStream(database, credential, stream, query)
    return { ...admitted, outcome: { query, found } }
  } catch (error) {
    const isFinal = error instanceof AppError && ['invalid', 'notFound', 'forbidden'].includes(error.code)
    if (isFinal) return { ...admitted, outcome: { refused: error } }
    place.release()
    throw error
  }
}

/** Returns the header, or the token that browsers send as a subprotocol instead. */
function authorizationOf({ headers, rawHeaders }: IncomingMessage): string | undefined {
  if (countHeader(rawHeaders, 'authorization') > 1) {
    throw new AppError('invalid', 'The Authorization header must be sent once.')
  }
  if (headers.authorization !== undefined) return headers.authorization
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((part) => part.trim())
  const token = offered.find((part) => part.startsWith(tokenProtocol))
  return token && `Bearer ${token.slice(tokenProtocol.length)}`
}

/** Checks the origin. Browsers always send it; only programs with the header may omit it. */
function checkOrigin({ headers }: IncomingMessage, origins: readonly string[]): void {
  const { origin, authorization } = headers
  if (origin === undefined ? authorization !== undefined : origins.includes(origin)) return
  throw new AppError('forbidden', 'Pages of this origin may not connect; see QUAYSIDE_CORS_ORIGINS.')
}

/** Answers over HTTP, because the connection was not upgraded. */
function refuse(
  log: Logger,
  socket: Duplex,
  { error, requestId }: { readonly error: unknown; readonly requestId: string },
): void {
  const expected = error instanceof Error ? expectedError(error) : undefined
  if (!expected) log.error({ err: error, requestId }, 'a stream could not be opened')
  const known = expected
    ? errorReply(expected.code, expected.message)
    : {
        ...errorCodes.unavailable,
        status: 500,
        error: 'Internal Server Error',
        message: 'Something went wrong on our side.',
      }
  const retryAfter = expected?.retryAfterSeconds
  const body = JSON.stringify({ detail: known.message, ...known })
  endSocket(
    socket,
    `HTTP/1.1 ${known.status} ${known.error}\r\nContent-Type: application/json; ` +
      `charset=utf-8\r\nCache-Control: no-store\r\n${requestIdHeader}: ${requestId}\r\n` +
      `${known.status === 401 ? 'WWW-Authenticate: Bearer\r\n' : ''}` +
      `${retryAfter === undefined ? '' : `Retry-After: ${retryAfter}\r\n`}Content-Length: ` +
      `${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}
