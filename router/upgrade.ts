import { type ClientRequest, type IncomingMessage, request as sendRequest } from 'node:http'
import type { Duplex } from 'node:stream'
import { answerFailureRaw } from './answer-failure.ts'
import { type Canary, recordStatus } from './canaries.ts'
import { after, monotonic } from './clock.ts'
import { endConnection } from './end-connection.ts'
import { limits } from './limits.ts'
import type { Failure } from './pages.ts'
import { reach } from './reach.ts'
import type { RequestHead } from './request-head.ts'
import { responseHeaders } from './response-head.ts'
import { seenTarget, type Target } from './routes.ts'
import { stickyIn } from './rules.ts'
import type { Traffic } from './traffic.ts'

export interface Upgrade {
  readonly traffic: Traffic
  readonly request: IncomingMessage
  readonly client: Duplex
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
    converse: (socket, reached, canary) => {
      traffic.services.watch(reached.route.service, socket)
      converse(upgrade, socket, reached, canary)
    },
  })
}

function converse(upgrade: Upgrade, socket: Duplex, target: Target, canary: Canary | undefined): void {
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
  const answered = listen(upgrade, outgoing, socket)
  const begun = ({ statusCode = 502 }: IncomingMessage): void => {
    cancel()
    recordStatus(canary, statusCode)
    // The time of a conversation is not one of an answer.
    traffic.services.recordRequest(service, statusCode, 0, 0, monotonic() - startedAt, -1)
  }
  outgoing.once('upgrade', begun).once('response', begun)
  outgoing.on('error', () => {
    cancel()
    socket.destroy()
    if (answered()) client.destroy()
    else {
      if (!client.destroyed) canary?.record(true)
      refuse(upgrade, { status: 502, message: `${target.route.name} ended the connection before it answered.` })
      traffic.services.recordOwn(service, 502, monotonic() - startedAt)
    }
  })
  outgoing.end()
}

/** Connects the response to the client. The returned function reports whether it has begun. */
function listen(upgrade: Upgrade, outgoing: ClientRequest, socket: Duplex): () => boolean {
  const { client, early } = upgrade
  let answered = false
  outgoing.once('upgrade', (answer, _socket, first) => {
    answered = true
    client.write(headOf(answer, answer.rawHeaders))
    if (first.length > 0) client.write(first)
    if (early.length > 0) socket.write(early)
    socket.on('error', () => client.destroy()).once('close', () => client.destroy())
    socket.pipe(client)
    client.pipe(socket)
  })
  outgoing.once('response', (answer) => {
    answered = true
    client.write(headOf(answer, [...(responseHeaders(answer.rawHeaders) ?? []), 'Connection', 'close']))
    answer.on('error', () => client.destroy())
    answer.pipe(client, { end: false })
    answer.once('end', () => endConnection(client))
    client.resume()
  })
  return () => answered
}

function headOf(answer: IncomingMessage, headers: readonly string[]): Buffer {
  let text = `HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\n`
  for (let index = 0; index < headers.length; index += 2) text += `${headers[index]}: ${headers[index + 1]}\r\n`
  return Buffer.from(`${text}\r\n`, 'latin1')
}

function refuse({ traffic, client, request }: Upgrade, failure: Failure): void {
  traffic.counts.failed++
  answerFailureRaw(client, failure, request.headers.accept)
}
