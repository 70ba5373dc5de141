import { type ClientRequest, type IncomingMessage, request as sendRequest } from 'node:http'
import type { Duplex } from 'node:stream'
import type { CanaryTry } from './canary-try.ts'
import type { ClientRequest as Asked } from './client-message.ts'
import { after, monotonic } from './clock.ts'
import { limits } from './limits.ts'
import type { Failure } from './pages.ts'
import { reach } from './reach.ts'
import type { RequestHead } from './request-head.ts'
import { stickyIn } from './rules.ts'
import { seenTarget, type Target } from './target.ts'
import type { Traffic } from './traffic.ts'
import type { UpgradeReply } from './upgrade-reply.ts'

export interface Upgrade {
  readonly traffic: Traffic
  readonly request: Asked
  /** The connection of the client, or its stream. */
  readonly client: Duplex
  readonly reply: UpgradeReply
  /** Bytes that the client sent after the request. */
  readonly early: Buffer
  readonly head: RequestHead
  readonly host: string
}

/**
 * Forwards an upgrade (WebSocket and others). Joins the two connections only if the endpoint
 * answers with status 101. After any other response the connection closes, so that no later request
 * can slip past the route table.
 */
export function passUpgrade(upgrade: Upgrade): void {
  const { traffic, client } = upgrade
  traffic.counts.open++
  traffic.counts.upgrades++
  traffic.tunnels.add(client)
  client.once('close', () => {
    traffic.counts.open--
    traffic.tunnels.delete(client)
  })
  const { url } = upgrade.request
  const target = traffic.routes.find(upgrade.host, url)
  const startedAt = monotonic()
  reach({
    traffic,
    client,
    host: upgrade.host,
    url,
    service: target?.route.service ?? '',
    wanted: target?.rules?.given.sticky ? stickyIn(upgrade.request.headers.cookie) : undefined,
    refuse: (failure) => {
      refuse(upgrade, failure)
      if (target) traffic.services.recordOwn(target.route.service, failure.status, monotonic() - startedAt)
    },
    converse: (socket, reached, trial) => {
      traffic.services.watch(reached.route.service, socket)
      converse(upgrade, socket, reached, trial)
    },
  })
}

function converse(upgrade: Upgrade, socket: Duplex, target: Target, trial: CanaryTry | undefined): void {
  const { request, head, client, traffic } = upgrade
  const { service } = target.route
  const startedAt = monotonic()
  client.once('close', () => socket.destroy())
  const outgoing = sendRequest({
    createConnection: () => socket,
    method: request.method ?? 'GET',
    path: seenTarget(target, request.url ?? '/'),
    headers: ['Host', head.host ?? '', ...head.forwarded, 'Connection', 'Upgrade', 'Upgrade', head.upgrade ?? ''],
    maxHeaderSize: limits.headerBytes,
    setHost: false,
  })
  const cancel = after(limits.answerMs, () => outgoing.destroy(new Error('no answer in time')))
  const begin = ({ statusCode = 502 }: IncomingMessage): void => {
    cancel()
    trial?.begun()
    trial?.ended(statusCode)
    // The time of a conversation is not one of an answer.
    traffic.services.recordRequest(service, statusCode, 0, 0, monotonic() - startedAt, -1)
  }
  const fail = (predicate: string): void => {
    cancel()
    socket.destroy()
    if (!client.destroyed) trial?.failed()
    refuse(upgrade, { status: 502, message: `${target.route.name} ${predicate}` })
    traffic.services.recordOwn(service, 502, monotonic() - startedAt)
  }
  listen(upgrade, outgoing, { socket, begin, fail })
  outgoing.end()
}

interface Conversation {
  readonly socket: Duplex
  /** Called with the answer that the client gets. */
  begin(answer: IncomingMessage): void
  /** Called if the client gets no answer of the endpoint. The predicate follows its name. */
  fail(predicate: string): void
}

/** Passes on the answer of the endpoint, or fails once. */
function listen(upgrade: Upgrade, outgoing: ClientRequest, { socket, begin, fail }: Conversation): void {
  const { reply, client } = upgrade
  let state: 'waiting' | 'answered' | 'failed' = 'waiting'
  const settle = (answer: IncomingMessage, isValid: boolean): void => {
    state = isValid ? 'answered' : 'failed'
    if (isValid) begin(answer)
    else fail('sent an answer that is not valid.')
  }
  outgoing.once('upgrade', (answer, _socket, first) => {
    settle(answer, reply.accept(answer))
    if (state === 'answered') join(upgrade, socket, first)
  })
  outgoing.once('response', (answer) => settle(answer, reply.decline(answer)))
  outgoing.on('error', () => {
    socket.destroy()
    if (state === 'answered') client.destroy()
    else if (state === 'waiting') fail('ended the connection before it answered.')
    state = 'failed'
  })
}

/** Joins the two connections. `first` are bytes that the endpoint sent with its answer. */
function join({ client, early, reply }: Upgrade, socket: Duplex, first: Buffer): void {
  if (first.length > 0) client.write(first)
  if (early.length > 0) socket.write(early)
  socket.on('error', () => client.destroy()).once('close', () => reply.end())
  socket.pipe(client)
  client.pipe(socket)
}

function refuse({ traffic, reply }: Upgrade, failure: Failure): void {
  traffic.counts.failed++
  reply.refuse(failure)
}
