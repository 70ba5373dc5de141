import { type ClientRequest, type IncomingMessage, request as sendRequest } from 'node:http'
import type { Duplex } from 'node:stream'
import { answerFailureRaw } from './answer-failure.ts'
import { after, monotonic } from './clock.ts'
import type { Endpoint } from './endpoint.ts'
import { failureOf, failureOfEndpoint } from './endpoint-failure.ts'
import { limits } from './limits.ts'
import { describe } from './log.ts'
import type { Failure } from './pages.ts'
import type { RequestHead } from './request-head.ts'
import { responseHeaders } from './response-head.ts'
import { retryDelay } from './retry.ts'
import { stickyIn } from './rules.ts'
import type { Traffic } from './traffic.ts'

export interface Upgrade {
  readonly traffic: Traffic
  readonly request: IncomingMessage
  readonly client: Duplex
  /** What the client sent behind the request. */
  readonly early: Buffer
  readonly head: RequestHead
  readonly host: string
}

/**
 * Passes an upgrade on (WebSocket and others). Only when the endpoint agrees with 101 do the two connections become one;
 * any other answer is given and the connection closed, so that nothing can slip past the route table behind it.
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
  reach(upgrade, 1, monotonic())
}

function reach(upgrade: Upgrade, tries: number, startedAt: number): void {
  const { traffic, host, client } = upgrade
  if (client.destroyed) return
  const target = traffic.routes.find(host)
  const failure = failureOf(target, host)
  const given = target?.rules?.given.sticky ? stickyIn(upgrade.request.headers.cookie) : undefined
  const endpoint = target && traffic.routes.choose(target, given)
  const name = target?.route.name ?? host
  if (failure && target?.route.asleep && !traffic.closing) {
    const cancel = traffic.waiting.hold(host, target, {
      go: () => reach(upgrade, 1, monotonic()),
      fail: (reason) => refuse(upgrade, reason),
    })
    client.once('close', cancel)
    return
  }
  if (failure || !endpoint) {
    refuse(upgrade, failure ?? { status: 503, message: `${name} has too many open requests.` })
    return
  }
  endpoint.hold()
  endpoint.connect((error, socket) => {
    if (error) unreached(upgrade, endpoint, error, { tries, startedAt })
    else converse(upgrade, endpoint, socket, name)
  })
}

function unreached(
  upgrade: Upgrade,
  endpoint: Endpoint,
  error: Error,
  { tries, startedAt }: { tries: number; startedAt: number },
): void {
  const { traffic, host } = upgrade
  endpoint.release()
  endpoint.asideUntil = monotonic() + limits.asideMs
  const { final, page } = failureOfEndpoint(error)
  const elapsedMs = monotonic() - startedAt
  const delay = retryDelay({ tries, elapsedMs, sent: false, answered: false, safe: true, final })
  if (delay !== undefined) {
    traffic.counts.retries++
    after(delay, () => reach(upgrade, tries + 1, startedAt))
    return
  }
  traffic.log.warn('upgrade failed', { host, endpoint: endpoint.label, error: describe(error) })
  const name = traffic.routes.find(host)?.route.name ?? host
  refuse(upgrade, { status: page.status, message: `${name} ${page.predicate}` })
}

function converse(upgrade: Upgrade, endpoint: Endpoint, socket: Duplex, name: string): void {
  const { request, head, client } = upgrade
  socket.once('close', () => endpoint.release())
  if (client.destroyed) {
    socket.destroy()
    return
  }
  client.once('close', () => socket.destroy())
  const outgoing = sendRequest({
    createConnection: () => socket,
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    headers: ['Host', head.host ?? '', ...head.forwarded, 'Connection', 'Upgrade', 'Upgrade', head.upgrade ?? ''],
    maxHeaderSize: limits.headerBytes,
    setHost: false,
  })
  const cancel = after(limits.answerMs, () => outgoing.destroy(new Error('no answer in time')))
  const answered = listen(upgrade, outgoing, socket)
  outgoing.once('upgrade', cancel).once('response', cancel)
  outgoing.on('error', () => {
    cancel()
    socket.destroy()
    if (answered()) client.destroy()
    else refuse(upgrade, { status: 502, message: `${name} ended the connection before it answered.` })
  })
  outgoing.end()
}

/** Connects the answer to the client; the given function tells whether it has begun. */
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
    answer.pipe(client)
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
  client.resume()
}
