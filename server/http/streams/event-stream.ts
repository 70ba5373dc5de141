import { eventStream } from '@quayside/contract/event-stream.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { authorize, type ReadCredential } from '../../access/index.ts'
import { type Database, withOwner } from '../../database/index.ts'
import { parseId } from '../../lib/id.ts'
import { organizationTarget } from '../../organizations/index.ts'
import type { StateChanges } from '../../state-changes/index.ts'
import type { Budgets } from '../budgets.ts'
import { authorizationOf, setRateHeaders } from '../credential-headers.ts'
import { EventClient, type EventDoor } from './event-client.ts'
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
  const { database, readCredential, openStreams, stateChanges } = options
  const door: EventDoor = {
    openStreams,
    stateChanges,
    authorize: async (authorization, organizationId) =>
      authorize(database, await readCredential(authorization), wishFor(organizationId)),
  }
  app.route({
    method: eventStream.method,
    url: eventStream.path.replace(/\{(\w+)\}/g, ':$1'),
    exposeHeadRoute: false,
    handler: (request, reply) => open(options, door, request, reply),
  })
}

const wishFor = (organizationId: string) =>
  ({
    access: eventStream.access,
    query: organizationTarget,
    targetId: parseId(organizationId),
    place: () => ({}),
  }) as const

async function open(
  options: EventStreamOptions,
  door: EventDoor,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { database, readCredential, budgets, openStreams } = options
  const authorization = authorizationOf(request)
  const credential = await readCredential(authorization)
  setRateHeaders(reply, budgets.take(credential, request.raw))
  // The router gives path parameters as strings.
  const { organizationId = '' } = request.params as Record<string, string>
  const authorized = await authorize(database, credential, wishFor(organizationId))
  budgets.confirm(credential, authorized.caller.organizationId)
  const organization = organizationId.toLowerCase()
  const place = openStreams.reserve({ callerId: authorized.caller.id, organizationId: organization })
  const client = new EventClient({
    door,
    place,
    response: reply.raw,
    authorization,
    organizationId: organization,
    authorized,
  })
  const from = await client.follow()
  const { socket } = client
  sendHead(reply, options.random ?? Math.random)
  // Beats keep the stream open. They and TCP keepalive find clients that are gone.
  socket.setKeepAlive(true, 15_000)
  if (!socket.destroyed) openStreams.add(client)
  await withOwner(organization, () => client.begin(lastEventId(request), from)).catch(() => socket.destroy())
}
/** Sends the head. Each client gets a random retry delay, so they do not all reconnect at once. */
function sendHead(reply: FastifyReply, random: () => number): void {
  reply.hijack()
  const known = Object.entries(reply.getHeaders()).filter(([, value]) => value !== undefined)
  // Node.js keeps headers that are set one by one as long as the response is open.
  reply.raw.writeHead(200, {
    ...Object.fromEntries(known),
    'content-type': `${eventStream.contentType}; charset=utf-8`,
    'cache-control': 'no-store, no-transform',
    // Keeps proxies from buffering the reply.
    'x-accel-buffering': 'no',
  })
  // Sent alone, the head is kept as one flat text, not as the dozens of parts it was joined from.
  reply.raw.flushHeaders()
  reply.raw.write(`retry: ${1_000 + Math.round(random() * 4_000)}\n\n`)
}

function lastEventId({ headers }: FastifyRequest): number | undefined {
  const text = headers['last-event-id']
  if (text === undefined || text === '') return undefined
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
}
