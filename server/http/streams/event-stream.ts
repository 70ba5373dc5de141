import { eventStream } from '@quayside/contract/event-stream.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { authorize, type ReadCredential } from '../../access/index.ts'
import { type Database, withOwner } from '../../database/index.ts'
import { parseId } from '../../lib/id.ts'
import { organizationTarget } from '../../organizations/index.ts'
import type { StateChanges } from '../../state-changes/index.ts'
import type { Budgets } from '../budgets.ts'
import { authorizationOf, setRateHeaders } from '../credential-headers.ts'
import { EventClient } from './event-client.ts'
import type { OpenStreams } from './open-streams.ts'

export interface EventStreamOptions {
  readonly database: Database
  readonly readCredential: ReadCredential
  readonly budgets: Budgets
  readonly openStreams: OpenStreams
  readonly stateChanges: StateChanges
  readonly random?: () => number
}

/**
 * Mounts `GET /organization/{organizationId}/stream`: server-sent events. `Last-Event-ID` continues
 * after that event.
 */
export function mountEventStream(app: FastifyInstance, options: EventStreamOptions): void {
  app.route({
    method: eventStream.method,
    url: eventStream.path.replace(/\{(\w+)\}/g, ':$1'),
    exposeHeadRoute: false,
    handler: (request, reply) => open(options, request, reply),
  })
}

async function open(options: EventStreamOptions, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { database, readCredential, budgets, openStreams, stateChanges } = options
  const authorization = authorizationOf(request)
  const credential = await readCredential(authorization)
  setRateHeaders(reply, budgets.take(credential, request.raw))
  // The router gives path parameters as strings.
  const { organizationId = '' } = request.params as Record<string, string>
  const wish = {
    access: eventStream.access,
    query: organizationTarget,
    targetId: parseId(organizationId),
    place: () => ({}),
  } as const
  const authorized = await authorize(database, credential, wish)
  budgets.confirm(credential)
  const organization = organizationId.toLowerCase()
  const release = openStreams.reserve({ callerId: authorized.caller.id, organizationId: organization })
  const { socket } = request.raw
  const client = new EventClient({
    response: reply.raw,
    socket,
    key: `${authorization} ${organization}`,
    check: async () => authorize(database, await readCredential(authorization), wish),
    authorized,
    feed: stateChanges,
  })
  const following = await stateChanges
    .follow(organization, (change) => client.receive(change))
    .catch((error) => {
      release()
      throw error
    })
  const leave = (): void => {
    following.end()
    openStreams.remove(client)
    release()
  }
  reply.raw.once('close', leave)
  // The client may have disconnected already.
  if (socket.destroyed) leave()
  sendHead(reply, options.random ?? Math.random)
  // Beats keep the stream open. They and TCP keepalive find clients that are gone.
  socket.setKeepAlive(true, 15_000)
  if (!socket.destroyed) openStreams.add(client)
  await withOwner(organization, () => client.begin(organization, lastEventId(request), following.from)).catch(() =>
    socket.destroy(),
  )
}

/** Sends the head. Each client gets a random retry delay, so they do not all reconnect at once. */
function sendHead(reply: FastifyReply, random: () => number): void {
  reply.hijack()
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value)
  }
  reply.raw.writeHead(200, {
    'content-type': `${eventStream.contentType}; charset=utf-8`,
    'cache-control': 'no-store, no-transform',
    // Keeps proxies from buffering the reply.
    'x-accel-buffering': 'no',
  })
  reply.raw.write(`retry: ${1_000 + Math.round(random() * 4_000)}\n\n`)
}

function lastEventId({ headers }: FastifyRequest): number | undefined {
  const text = headers['last-event-id']
  if (text === undefined || text === '') return undefined
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
}
