import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { openApi } from '@quayside/contract/openapi.ts'
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { withoutLink } from '../accounts/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import type { Logger } from '../lib/log.ts'
import type { StateChanges } from '../state-changes/index.ts'
import type { Feeds } from '../streams/index.ts'
import { type AccountsRouteOptions, mountAccounts } from './accounts-route.ts'
import { readBytes } from './body.ts'
import { apiBodies, type BodyPlace, roomFor, smallBody } from './body-room.ts'
import { type ConnectionOptions, limitConnections } from './connections.ts'
import { allowOrigins } from './cors.ts'
import { countHeader } from './count-header.ts'
import { authorizationOf } from './credential-headers.ts'
import { mountDocs } from './docs-route.ts'
import { errorHandler, errorReply } from './errors.ts'
import { type GitRouteOptions, mountGit } from './git-route.ts'
import { type GitWebhookRouteOptions, mountGitWebhooks } from './git-webhook-route.ts'
import { type MountOptions, mountContract } from './mount.ts'
import { answerOtherMethods } from './other-methods.ts'
import { serializerCompiler } from './serializer.ts'
import { endSocket } from './streams/end-socket.ts'
import { mountEventStream } from './streams/event-stream.ts'
import type { OpenStreams } from './streams/open-streams.ts'
import { mountSockets } from './streams/sockets.ts'

export interface ServerOptions
  extends MountOptions,
    GitRouteOptions,
    GitWebhookRouteOptions,
    AccountsRouteOptions,
    ConnectionOptions {
  readonly streams: {
    readonly openStreams: OpenStreams
    readonly stateChanges: StateChanges
    readonly feeds: Feeds
    /** Of this server itself. */
    readonly ownOrigin: string
  }
  readonly log: Logger
  readonly clock: Clock
  readonly version: string
  /** Names under which the API may be asked, beside addresses and `localhost`. */
  readonly hostNames: readonly string[]
  /** Of web pages that may use the API from a browser. */
  readonly allowedOrigins?: readonly string[]
  /** Rejects with the reason while requests cannot be served. */
  readonly ready: () => Promise<void>
}

/** Sent with every answer: nothing here is meant to be rendered, framed, cached or guessed at. */
const securityHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

const bodyLimit = 256 * 1024
const bodyTimeoutMs = 30_000
/**
 * For a whole request: a push of a large repository may take this long, bodies of the API see
 * above.
 */
const requestTimeoutMs = 600_000
const jsonType = /^application\/json(?:; ?charset=utf-8)?$/i
/** What clients call texts; a JSON text is a YAML text, too. */
const textType = /^(?:application\/(?:x-)?yaml|text\/(?:x-)?yaml|text\/plain)(?:; ?charset=utf-8)?$/i
const isAccepted = (type: string, expected: string | undefined): boolean =>
  jsonType.test(type) || (expected !== undefined && textType.test(type))

/**
 * The door: one Fastify instance with every operation, the git host, health and the API's own
 * description.
 */
export function createServer(options: ServerOptions): FastifyInstance {
  const refuse = errorHandler(options.log)
  const app = fastify({
    genReqId: () => newId(),
    bodyLimit,
    requestTimeout: requestTimeoutMs,
    connectionTimeout: 60_000,
    keepAliveTimeout: 10_000,
    return503OnClosing: true,
    http: {
      maxHeaderSize: 16_384,
      headersTimeout: 10_000,
      connectionsCheckingInterval: 1000,
      // Other upgrades, such as to HTTP/2, are not made: such a request is answered as it is.
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
    },
    routerOptions: { maxParamLength: 100, ignoreTrailingSlash: false },
    forceCloseConnections: 'idle',
    exposeHeadRoutes: true,
    clientErrorHandler: refuseMalformed,
    // An address that cannot be decoded passes no hook.
    frameworkErrors: (error, request, reply) => {
      reply.headers(securityHeaders).header('x-request-id', request.id)
      void refuse(error, request, reply)
    },
  })
  limitConnections(app.server, options)
  app.setErrorHandler(refuse)
  app.setSerializerCompiler(serializerCompiler)
  readRawBodies(app, options)
  const isOwnName = hostChecker(options.hostNames)
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(securityHeaders).header('x-request-id', request.id)
    done(refusedRequestLine(request.raw, isOwnName))
  })
  allowOrigins(app, options.allowedOrigins ?? [])
  answerOtherMethods(app)
  app.addHook('onResponse', (request, reply, done) => {
    done()
    const { method, url, id } = request
    const level = reply.statusCode >= 500 ? 'error' : method === 'GET' && reply.statusCode < 400 ? 'debug' : 'info'
    if (!options.log.isLevelEnabled(level)) return
    const fields = {
      requestId: id,
      method,
      path: withoutLink(url.split('?')[0] ?? ''),
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
    }
    options.log[level](fields, 'request answered')
  })
  mountHealth(app, options)
  mountDocs(app, options.version)
  mountContract(app, options)
  mountGit(app, options)
  mountGitWebhooks(app, options)
  mountAccounts(app, options)
  mountEventStream(app, { ...options, ...options.streams })
  mountSockets(app, {
    ...options,
    ...options.streams,
    origins: [options.streams.ownOrigin, ...(options.allowedOrigins ?? [])],
    refusal: (request) => refusedRequestLine(request, isOwnName),
  })
  return app
}

/** Bodies are read as bytes; what is in them is looked at after the caller was authorised. */
function readRawBodies(app: FastifyInstance, { clock, budgets, readCredential }: ServerOptions): void {
  const room = roomFor(apiBodies)
  const places = new WeakMap<IncomingMessage, BodyPlace>()
  app.addHook('preParsing', async (request, reply, payload) => {
    if (!mayBeLarge(request.headers)) return payload
    const credential = await readCredential(authorizationOf(request))
    const place = room.enter(budgets.ownerOf(credential, request.raw))
    places.set(request.raw, place)
    reply.raw.once('close', place.leave)
    return payload
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: Readable) => {
    if (request.headers['content-encoding'] !== undefined) {
      throw new AppError('unsupportedMediaType', 'The body must not be compressed.')
    }
    const limit = request.routeOptions.bodyLimit ?? bodyLimit
    if (Number(request.headers['content-length'] ?? 0) > limit) {
      throw new AppError('tooLarge', `The body is larger than ${limit} bytes.`)
    }
    const place = places.get(request.raw)
    const body = await readBytes(payload, { bytes: limit, timeoutMs: bodyTimeoutMs, place }, clock)
    const expected = request.routeOptions.config.contentType
    if (body.length > 0 && !isAccepted(request.headers['content-type'] ?? '', expected)) {
      throw new AppError('unsupportedMediaType', `The body must be sent as ${expected ?? 'application/json'}.`)
    }
    return body
  })
}

const mayBeLarge = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > smallBody

const longestUrl = 8192

function refusedRequestLine(
  { url = '', headers, rawHeaders }: IncomingMessage,
  isOwnName: (host: string) => boolean,
): AppError | undefined {
  if (url.length > longestUrl) return new AppError('uriTooLong', `The address is longer than ${longestUrl} characters.`)
  if (countHeader(rawHeaders, 'host') > 1) return new AppError('invalid', 'The header Host must be sent once.')
  // In its absolute form the request line itself names the host.
  const host = url.startsWith('/') ? headers.host : URL.parse(url)?.host
  if (isOwnName(host ?? '')) return undefined
  return new AppError('misdirected', 'This server does not answer to that host name; see QUAYSIDE_PUBLIC_URL.')
}

const maxKnownHosts = 100

/**
 * Whether a Host header names this server. The few names in use are remembered: reading an address
 * costs more than the rest.
 */
function hostChecker(hostNames: readonly string[]): (host: string) => boolean {
  const known = new Set<string>()
  return (host) => {
    if (known.has(host)) return true
    const name = URL.parse(`http://${host}`)?.hostname
    const isOwn = name !== undefined && (hostNames.includes(name) || name === 'localhost' || /^[\d.]+$|^\[/.test(name))
    if (isOwn && known.size < maxKnownHosts) known.add(host)
    return isOwn
  }
}

function mountHealth(app: FastifyInstance, { ready, version }: ServerOptions): void {
  app.get('/health/live', async () => ({ status: 'live', version }))
  app.get('/health/ready', async (_request, reply) => {
    try {
      await ready()
      return { status: 'ready', version }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      return reply.code(503).header('retry-after', '1').send(errorReply('unavailable', message))
    }
  })
  // Large, and rarely asked for: made when it is.
  let document: string | undefined
  app.get('/openapi.json', async (_request, reply) => {
    document ??= JSON.stringify(openApi(version))
    return reply.type('application/json; charset=utf-8').send(document)
  })
}

/**
 * What the HTTP parser refuses is answered in the same form as everything else, and the connection
 * ends.
 */
function refuseMalformed(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable) return
  const code =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? 'headersTooLarge'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 'requestTimeout'
        : 'invalid'
  const reply = errorReply(code, 'The request is not valid HTTP, too large, or came too slowly.')
  const body = JSON.stringify(reply)
  endSocket(
    socket,
    `HTTP/1.1 ${reply.status} ${reply.error}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

/** The version of the platform, from its own manifest. */
export const readManifestVersion = (): string =>
  String(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version)
