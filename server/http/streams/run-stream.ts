import type { IncomingHttpHeaders } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Stream, StreamPath } from '@quayside/contract/streams.ts'
import type { WebSocket } from 'ws'
import { type Authorized, type ReadCredential, visible } from '../../access/index.ts'
import { recordChange } from '../../audit/index.ts'
import { type Database, withOwner } from '../../database/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, messageOf } from '../../lib/error.ts'
import type { Logger } from '../../lib/log.ts'
import type { Feeds } from '../../streams/index.ts'
import { auditEntry } from '../audit-entry.ts'
import { readClient } from '../client.ts'
import type { OpenStreams } from './open-streams.ts'
import { closeCodes, SocketStream } from './socket-stream.ts'
import type { StreamPlace } from './stream-places.ts'
import type { StreamQuery } from './stream-query.ts'
import { type AuthorizedStream, authorizeStream } from './stream-target.ts'

export interface StreamRunOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  readonly readCredential: ReadCredential
  readonly openStreams: OpenStreams
  readonly feeds: Feeds
}

/** An authenticated request for a stream. */
export interface Admitted {
  readonly path: StreamPath
  readonly stream: Stream
  readonly authorization: string
  readonly headers: IncomingHttpHeaders
  /** The id in `X-Qovery-Request-Id` of the reply to the upgrade, and in the audit log. */
  readonly requestId: string
  readonly place: StreamPlace
  /** The target and query of the stream, or the reason for its rejection. */
  readonly outcome: { readonly query: StreamQuery; readonly found: AuthorizedStream } | { readonly refused: AppError }
}

/** Sends a stream over the WebSocket until one side ends. The close code reports the reason. */
export async function runStream(
  options: StreamRunOptions,
  admitted: Admitted,
  webSocket: WebSocket,
  socket: Duplex,
): Promise<void> {
  const { database, readCredential, openStreams, feeds, log } = options
  const { path, stream, authorization, outcome } = admitted
  const query = 'query' in outcome ? outcome.query : { query: {}, command: [] }
  let authorized: Authorized | undefined
  const connection = new SocketStream({
    webSocket,
    // A server that listens on TCP gives TCP sockets.
    socket: socket instanceof Socket ? socket : new Socket(),
    key: `${authorization} ${path} ${JSON.stringify(query)}`,
    check: async () => (await authorizeStream(database, await readCredential(authorization), stream, query)).authorized,
    onRenew: (now) => {
      authorized = now
    },
  })
  if ('refused' in outcome) return connection.close(...closeOf(outcome.refused))
  if (stream.refuses !== undefined) return connection.close(closeCodes.refused, stream.refuses)
  // Early messages of the client wait until they are read.
  if (stream.message === undefined) webSocket.pause()
  openStreams.add(connection)
  connection.signal.addEventListener('abort', () => openStreams.remove(connection), { once: true })
  const { subject, organizationId, authorized: first } = outcome.found
  const call = { subject, organizationId, ...query, visible: () => visible((authorized ?? first).caller) }
  try {
    await record(options, admitted, outcome.found, query)
    const ending = await withOwner(organizationId, () => feeds[path](call, connection, connection.signal))
    connection.close(closeCodes.done, typeof ending === 'string' ? ending : '')
  } catch (error) {
    if (connection.signal.aborted) return
    connection.close(...closeOf(error))
    if (!(error instanceof AppError) && !isEngineError(error)) log.error({ err: error, path }, 'a stream failed')
  }
}

/**
 * Records who opens a shell or a port, before it is open. The command and the input are not
 * recorded, because they may hold secrets.
 */
async function record(
  { database, clock }: StreamRunOptions,
  { stream, headers, requestId }: Admitted,
  { authorized: { caller, target }, subject }: AuthorizedStream,
  { query }: StreamQuery,
): Promise<void> {
  if (stream.event === undefined) return
  const { pod_name = null, port = null } = query
  const entry = auditEntry({
    operation: { target: subject.type, event: { type: stream.event, target: 'SERVICE' } },
    call: { caller, target, ids: [], client: readClient(headers, undefined) },
    place: undefined,
    reply: { pod_name, port },
    former: undefined,
    requestId,
    userAgent: headers['user-agent'],
    now: clock.now(),
  })
  if (entry) await recordChange(database, entry)
}

/** Whether an error is from the engine. Its message is for people; `reason` says if to retry. */
const isEngineError = (error: unknown): error is Error & { readonly reason: string } =>
  error instanceof Error && error.name === 'EngineError' && 'reason' in error

function closeOf(error: unknown): [code: number, reason: string] {
  if (error instanceof AppError) {
    return [error.code === 'invalid' ? closeCodes.badQuery : closeCodes.refused, error.message]
  }
  if (isEngineError(error)) {
    return [error.reason === 'refused' ? closeCodes.refused : closeCodes.again, messageOf(error)]
  }
  return [closeCodes.again, 'Something went wrong on our side.']
}
