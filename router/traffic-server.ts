import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { answerFailure } from './answer-failure.ts'
import { answeredByRules, type Door, doorOf, refusalOf, setRequestHeaders } from './apply-rules.ts'
import { peerOf } from './client-address.ts'
import { watchClientEnd } from './client-end.ts'
import type { ClientRequest, ClientResponse } from './client-message.ts'
import { monotonic } from './clock.ts'
import { Connections, refuseConnection } from './connections.ts'
import { enterDoor } from './door.ts'
import { endConnection } from './end-connection.ts'
import { failureOf, movedAway } from './endpoint-failure.ts'
import { Exchange } from './exchange.ts'
import { hostOf } from './host-of.ts'
import { limits } from './limits.ts'
import { linedReply } from './lined-reply.ts'
import { ownerOf } from './owner.ts'
import type { Failure } from './pages.ts'
import { type RequestHead, readRequestHead } from './request-head.ts'
import { readableBy } from './rules.ts'
import { challengeAnswer, misdirection } from './secure.ts'
import { withholdCookies } from './sign-in-cookies.ts'
import { signInReturn } from './sign-in-return.ts'
import type { Target } from './target.ts'
import type { Traffic } from './traffic.ts'
import { passUpgrade } from './upgrade.ts'
import { rawReply, type UpgradeReply } from './upgrade-reply.ts'

/** Node creates no stream for a missing body. Its types do not know this option yet. */
const withoutEmptyBodies = { optimizeEmptyRequests: true }

/** The options of each server in front of the applications. */
export const httpOptions = {
  keepAlive: true,
  noDelay: true,
  insecureHTTPParser: false,
  requireHostHeader: true,
  maxHeaderSize: limits.headerBytes,
  headersTimeout: limits.clientHeadersMs,
  // A request body has no time limit.
  requestTimeout: 0,
  keepAliveTimeout: limits.clientIdleMs,
  connectionsCheckingInterval: 2_000,
  ...withoutEmptyBodies,
} as const

/** A server in front of the applications, with its connections. */
export interface Front<S extends Server = Server> {
  readonly server: S
  readonly connections: Connections
  /** Ends the HTTP/2 connections of the server, each one after its open requests. */
  leave?(): void
}

/** Creates the HTTP/1.1 server in front of the applications. It is not yet listening. */
export function createTrafficServer(traffic: Traffic): Front {
  const server = createServer(httpOptions)
  return { server, connections: acceptTraffic(traffic, server, (socket) => socket) }
}

/**
 * Has a server carry requests to the applications. `below` returns the connection of a request's
 * socket, which is another one with TLS. Returns the server's connections.
 */
export function acceptTraffic(traffic: Traffic, server: Server, below: (socket: Socket) => Socket): Connections {
  const connections = new Connections(traffic.connections, traffic.isProxy)
  server.on('connection', (socket) => {
    if (!connections.admit(socket)) refuseConnection(traffic, socket)
  })
  const asked = (request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean): void => {
    const socket = below(request.socket)
    connections.begin(socket)
    if (connections.isLeaving) response.shouldKeepAlive = false
    response.on('close', () => connections.end(socket))
    inOrder(traffic, request, response, awaitsContinue)
  }
  server.on('request', (request, response) => asked(request, response, false))
  server.on('checkContinue', (request, response) => asked(request, response, true))
  server.on('upgrade', (request, socket, early) => {
    connections.begin(below(request.socket))
    serveUpgrade(traffic, request, { client: socket, early, reply: rawReply(socket, request.headers.accept) })
  })
  server.on('connect', (_request, socket: Duplex) => {
    socket.on('error', () => socket.destroy())
    endConnection(socket, 'HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
  })
  server.on('error', (error) => traffic.log.error('traffic server failed', { error: error.message }))
  return connections
}

/** Serves pipelined requests one at a time. */
function inOrder(traffic: Traffic, request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean): void {
  if (response.socket) serve(traffic, request, response, awaitsContinue)
  else response.once('socket', () => serve(traffic, request, response, awaitsContinue))
}

/** Answers one request. Never throws. */
export function serve(
  traffic: Traffic,
  request: ClientRequest,
  response: ClientResponse,
  awaitsContinue: boolean,
): void {
  traffic.counts.requests++
  if (traffic.leaving) response.shouldKeepAlive = false
  const head = headOf(traffic, request)
  const host = head.refusal === undefined ? hostOf(head.host ?? '') : undefined
  const known = host === undefined ? undefined : challengeAnswer(traffic, host, request.url)
  if (known !== undefined) {
    response.end(known, 'latin1')
    return
  }
  const returned = host === undefined ? undefined : signInReturn(traffic, request, { head, host })
  if (returned) {
    answerFailure(request, response, returned, head)
    return
  }
  const target = host === undefined ? undefined : traffic.routes.find(host, request.url)
  const rules = target?.rules
  const line =
    target && rules?.given.accessLines ? traffic.lines.watch(target.route, request, response, head.client) : undefined
  const astray =
    (target === undefined ? astrayFailure(traffic, request, { head, host }) : undefined) ??
    (host === undefined ? undefined : misdirection(traffic, request, { head, host, target }))
  if (host === undefined || astray) {
    traffic.counts.refused++
    answerFailure(request, response, astray ?? malformed(head), head)
    if (target) traffic.services.recordOwn(target.route.service, response.statusCode, 0)
    return
  }
  const passage = { head, host, awaitsContinue, target, line }
  // The rules of most routes let every request without a body pass.
  const mayAnswer = rules !== undefined && target !== undefined && (!rules.isOpen || head.hasBody)
  const answered = mayAnswer && answeredByRules(traffic, request, response, { rules, ...namesOf(target), head })
  if (answered instanceof Promise) void passLater(traffic, request, response, { passage, answered })
  else if (answered) traffic.services.recordOwn(target?.route.service ?? '', response.statusCode, 0)
  else pass(traffic, request, response, { passage, now: target })
}

/** Passes a request once its password is checked. Never rejects. */
async function passLater(
  traffic: Traffic,
  request: ClientRequest,
  response: ClientResponse,
  { passage, answered }: { readonly passage: Accepted['passage']; readonly answered: Promise<boolean> },
): Promise<void> {
  const beganAt = monotonic()
  const isAnswered = await answered
  const service = passage.target?.route.service ?? ''
  if (response.destroyed && !response.headersSent) traffic.services.recordOwn(service, 499, monotonic() - beganAt)
  else if (isAnswered) traffic.services.recordOwn(service, response.statusCode, monotonic() - beganAt)
  else pass(traffic, request, response, { passage, now: traffic.routes.find(passage.host, request.url) })
}

/** A request that its rules have accepted, and the target of the current table. */
interface Accepted {
  readonly passage: ConstructorParameters<typeof Exchange>[3]
  readonly now: Target | undefined
}

/** Sends an accepted request to its endpoint, or has it wait for one. */
function pass(traffic: Traffic, request: ClientRequest, response: ClientResponse, { passage, now }: Accepted): void {
  const { head, host, target } = passage
  prepare(target, head)
  watchVisit(traffic, head, response)
  const failure = enterDoor(traffic, target, head, response) ?? failureNow(target, now, host)
  if (!failure) {
    new Exchange(traffic, request, response, passage).send(now)
    return
  }
  const refuse = (reason: Failure, waitedMs: number): void => {
    answerFailure(request, response, readableBy(reason, target?.rules, request.headers.origin), head)
    if (target) traffic.services.recordOwn(target.route.service, reason.status, waitedMs)
  }
  if (!now?.route.asleep || isMoved(target, now) || traffic.closing) {
    refuse(failure, 0)
    return
  }
  const heldAt = monotonic()
  let isHeld = true
  const cancel = traffic.waiting.hold({ host, url: request.url }, now, {
    go: (awake) => {
      isHeld = false
      new Exchange(traffic, request, response, passage).send(awake)
    },
    fail: (reason) => {
      isHeld = false
      traffic.counts.failed++
      refuse(reason, monotonic() - heldAt)
    },
  })
  response.once('close', () => {
    cancel()
    if (isHeld) traffic.services.recordOwn(now.route.service, 499, monotonic() - heldAt)
  })
}

/** Whether the table leads to another service than the one whose rules accepted the request. */
const isMoved = (accepted: Target | undefined, now: Target | undefined): boolean =>
  now !== undefined && now.route.service !== accepted?.route.service

const failureNow = (accepted: Target | undefined, now: Target | undefined, host: string): Failure | undefined =>
  isMoved(accepted, now) ? movedAway(host) : failureOf(now, host)

/** Changes the headers of a request to what its endpoint gets. */
function prepare(target: Target | undefined, head: RequestHead): void {
  if (target?.byPath || target?.rules?.given.signIn) withholdCookies(head.forwarded)
  setRequestHeaders(target?.rules, head)
}

/** Breaks off what a person has open once the person may not open it any more. */
function watchVisit(
  { visits }: Traffic,
  { person }: RequestHead,
  open: { destroy(): unknown; once(event: 'close', listener: () => void): unknown },
): void {
  if (person) open.once('close', visits.watch({ claims: person, end: () => void open.destroy() }))
}

interface UpgradeParts {
  /** The connection of the client, or its stream. */
  readonly client: Duplex
  /** Bytes that the client sent after the request. */
  readonly early: Buffer
  readonly reply: UpgradeReply
}

/** Answers one request for an upgrade, or joins it with an endpoint. Never throws. */
export function serveUpgrade(traffic: Traffic, request: ClientRequest, parts: UpgradeParts): void {
  const { client, early } = parts
  client.on('error', () => client.destroy())
  traffic.counts.requests++
  const head = headOf(traffic, request)
  const host = hostOf(head.host ?? '')
  const target = host === undefined ? undefined : traffic.routes.find(host, request.url)
  const reply = target?.rules?.given.accessLines
    ? linedReply(parts.reply, client, traffic.lines.begin(target.route, request, head.client))
    : parts.reply
  const shut = target?.rules && shutBy(traffic, request, { rules: target.rules, ...namesOf(target), head })
  const conclude = (ruled: Failure | undefined, now: Target | undefined): void =>
    joinOrRefuse(traffic, request, { client, early, reply }, { head, host, target, ruled, now })
  if (!(shut instanceof Promise)) {
    conclude(shut, target)
    return
  }
  const stopWatch = watchClientEnd(client)
  void shut.then((ruled) => {
    stopWatch()
    if (!client.destroyed) conclude(ruled, host === undefined ? undefined : traffic.routes.find(host, request.url))
    else if (target) traffic.services.recordOwn(target.route.service, 499, 0)
  })
}

/** A request for an upgrade that the rules of its route have looked at. */
interface Examined {
  readonly head: RequestHead
  readonly host: string | undefined
  readonly target: Target | undefined
  /** Why the rules refuse it. */
  readonly ruled: Failure | undefined
  /** The target of the current table. */
  readonly now: Target | undefined
}

function joinOrRefuse(traffic: Traffic, request: ClientRequest, parts: UpgradeParts, examined: Examined): void {
  const { client, early, reply } = parts
  const { head, host, target, ruled, now } = examined
  const refusal = head.refusal ?? upgradeRefusal(head, target)
  const failure =
    (host === undefined ? undefined : signInReturn(traffic, request, { head, host })) ??
    ruled ??
    (refusal === undefined ? undefined : malformed({ refusal })) ??
    (target === undefined ? astrayFailure(traffic, request, { head, host }) : undefined) ??
    (host === undefined ? undefined : misdirection(traffic, request, { head, host, target })) ??
    (host !== undefined && isMoved(target, now) ? movedAway(host) : undefined) ??
    enterDoor(traffic, target, head, client)
  if (host !== undefined && failure === undefined) {
    prepare(target, head)
    watchVisit(traffic, head, client)
    passUpgrade({ traffic, request, client, reply, early, head, host })
  } else {
    traffic.counts.refused++
    const answered = failure ?? malformed({ refusal })
    reply.refuse(answered)
    if (target) traffic.services.recordOwn(target.route.service, answered.status, 0)
  }
}

/**
 * Returns why a request with a malformed host or path, or without a route for its path, is
 * rejected.
 */
function astrayFailure(
  traffic: Traffic,
  { url = '/' }: ClientRequest,
  { head, host }: { readonly head: RequestHead; readonly host: string | undefined },
): Failure | undefined {
  if (host === undefined) return malformed(head)
  switch (traffic.routes.pathFailure(host, url)) {
    case 'malformed':
      return malformed({ refusal: 'its path is ambiguous' })
    case 'absent':
      return { status: 404, message: `No application answers at this path of ${host}. Check the path.` }
    default:
      return undefined
  }
}

const namesOf = ({ route }: Target) => ({ name: route.name, service: route.service, owner: ownerOf(route) })

const shutBy = (...[traffic, request, ruled]: Parameters<typeof doorOf>): Door =>
  refusalOf(traffic, request, ruled) ?? doorOf(traffic, request, ruled)

/**
 * HTTP/2 after an upgrade would carry requests past the route table. A body before it could hide
 * one.
 */
function upgradeRefusal(head: RequestHead, target: Target | undefined): string | undefined {
  if (head.hasBody) return 'a request with a body cannot be upgraded'
  if (head.upgrade === undefined) return 'Upgrade is missing'
  if (target?.route.speaksHttp2) return 'its application speaks HTTP/2, which has no upgrades'
  if (/h2|http/i.test(head.upgrade)) return 'the connection cannot be upgraded to HTTP/2'
  return undefined
}

const malformed = ({ refusal }: { readonly refusal: string | undefined }): Failure => ({
  status: 400,
  message: `The request is malformed: ${refusal ?? 'the Host header is not a host name'}.`,
})

const headOf = (traffic: Traffic, { rawHeaders, url = '', httpVersion, socket }: ClientRequest): RequestHead =>
  readRequestHead(rawHeaders, url, httpVersion, peerOf(traffic, socket))
