import { type ClientRequest, type IncomingMessage, request as sendRequest } from 'node:http'
import type { Duplex } from 'node:stream'
import { watchClientEnd } from './client-end.ts'
import type { ClientRequest as Asked } from './client-message.ts'
import { after } from './clock.ts'
import { limits } from './limits.ts'
import type { Failure } from './pages.ts'
import { type Reached, reach } from './reach.ts'
import type { RequestHead } from './request-head.ts'
import { ruledHeaders, stickyIn } from './rules.ts'
import { seenTarget } from './target.ts'
import type { Traffic } from './traffic.ts'
import { UpgradeOutcome } from './upgrade-outcome.ts'
import type { UpgradeAnswer, UpgradeReply } from './upgrade-reply.ts'

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
  const { url, headers } = upgrade.request
  const target = traffic.routes.find(upgrade.host, url)
  const outcome = new UpgradeOutcome(traffic.services, target?.route.service)
  const stopWatch = watchClientEnd(client)
  client.once('close', () => outcome.left())
  reach({
    traffic,
    client,
    host: upgrade.host,
    url,
    service: target?.route.service ?? '',
    wanted: target?.rules?.given.sticky ? stickyIn(headers.cookie) : undefined,
    refuse: (failure) => {
      stopWatch()
      refuse(upgrade, failure)
      outcome.own(failure.status)
    },
    converse: (reached) => {
      traffic.services.watch(reached.target.route.service, reached.socket)
      converse(upgrade, reached, { outcome, stopWatch })
    },
  })
}

interface Attended {
  readonly outcome: UpgradeOutcome
  /** Must be called before the client is read. */
  readonly stopWatch: () => void
}

function converse(upgrade: Upgrade, reached: Reached, { outcome, stopWatch }: Attended): void {
  const { request, head, client } = upgrade
  const { socket, target, trial } = reached
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
    outcome.answered(statusCode)
  }
  const fail = (predicate: string): void => {
    cancel()
    socket.destroy()
    if (client.destroyed) return
    trial?.failed()
    refuse(upgrade, { status: 502, message: `${target.route.name} ${predicate}` })
    outcome.own(502)
  }
  listen(upgrade, outgoing, { reached, stopWatch, begin, fail })
  outgoing.end()
}

interface Conversation {
  readonly reached: Reached
  readonly stopWatch: () => void
  /** Called with the answer that the client gets. */
  begin(answer: IncomingMessage): void
  /** Called if the client gets no answer of the endpoint. The predicate follows its name. */
  fail(predicate: string): void
}

/** Passes on the answer of the endpoint, or fails once. */
function listen(upgrade: Upgrade, outgoing: ClientRequest, { reached, stopWatch, begin, fail }: Conversation): void {
  const { reply, client } = upgrade
  const { socket } = reached
  let state: 'waiting' | 'answered' | 'failed' = 'waiting'
  const settle = (message: IncomingMessage, isValid: boolean): void => {
    state = isValid ? 'answered' : 'failed'
    if (isValid) begin(message)
    else fail('sent an answer that is not valid.')
  }
  const answerOf = (message: IncomingMessage): UpgradeAnswer => {
    stopWatch()
    return { message, headers: headersOf(upgrade, reached, message) }
  }
  outgoing.once('upgrade', (message, _socket, first) => {
    settle(message, reply.accept(answerOf(message)))
    if (state === 'answered') join(upgrade, socket, first)
  })
  outgoing.once('response', (message) => settle(message, reply.decline(answerOf(message))))
  outgoing.on('error', () => {
    socket.destroy()
    if (state === 'answered') client.destroy()
    else if (state === 'waiting') fail('ended the connection before it answered.')
    state = 'failed'
  })
}

/** Returns the headers of an endpoint's answer under the rules of the route. */
function headersOf({ request }: Upgrade, { target, endpoint }: Reached, { rawHeaders }: IncomingMessage): string[] {
  const { rules, place } = target
  if (!rules || rules.keepsHeaders) return rawHeaders
  return ruledHeaders(rules, rawHeaders, { asked: request.headers, endpoint: endpoint.id, path: place.path })
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
