import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
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
import { mountConsole } from './console-route.ts'
import { allowOrigins } from './cors.ts'
import { countHeader } from './count-header.ts'
import { authorizationOf } from './credential-headers.ts'
import { mountDocs } from './docs-route.ts'
import { errorHandler, errorReply } from './errors.ts'
import { type GitRouteOptions, mountGit } from './git-route.ts'
import { type GitWebhookRouteOptions, mountGitWebhooks } from './git-webhook-route.ts'
import { type MetricsRouteOptions, mountMetrics } from './metrics-route.ts'
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
    MetricsRouteOptions,
    AccountsRouteOptions,
    ConnectionOptions {
  readonly streams: {
    readonly openStreams: OpenStreams
    readonly stateChanges: StateChanges
    readonly feeds: Feeds
    /** The origin of this server. */
    readonly ownOrigin: string
  }
  readonly log: Logger
  readonly clock: Clock
  readonly version: string
  /** Host names of the API, besides addresses and `localhost`. */
  readonly hostNames: readonly string[]
  /** Whether browsers must use HTTPS for the name of the platform. */
  readonly isHttpsOnly: boolean
  /** Origins of web pages that may use the API from a browser. */
  readonly allowedOrigins?: readonly string[]
  /** Rejects with the reason while requests cannot be served. */
  readonly ready: () => Promise<void>
}

/** Sent with every reply: browsers must not render, frame, cache or sniff it. */
const securityHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** Half a year, and not for the names below: applications are beside the platform. */
const httpsOnly = 'max-age=15552000'

const consoleDirectory = fileURLToPath(new URL('../../console/dist', import.meta.url))

const bodyLimit = 256 * 1024
const bodyTimeoutMs = 30_000
/**
 * The timeout of a whole request. A push of a large repository may take this long; bodies of the
 * API have a shorter timeout.
 */
const requestTimeoutMs = 600_000
/** A client must have begun its first request this long after the server accepts no more. */
const firstByteMs = 1_000
const jsonType = /^application\/json(?:; ?charset=utf-8)?$/i
/** Media types that clients use for text. JSON is valid YAML too. */
const textType = /^(?:application\/(?:x-)?yaml|text\/(?:x-)?yaml|text\/plain)(?:; ?charset=utf-8)?$/i
const isAccepted = (type: string, expected: string | undefined): boolean =>
  jsonType.test(type) || (expected !== undefined && textType.test(type))

/**
 * Creates the door: one Fastify instance with every operation, the git host, health and the
 * OpenAPI document.
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
      // Other upgrades, such as HTTP/2, are ignored: the request is answered as plain HTTP.
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
    },
    routerOptions: { maxParamLength: 100, ignoreTrailingSlash: false },
    forceCloseConnections: 'idle',
    exposeHeadRoutes: true,
    clientErrorHandler: refuseMalformed,
    // A request with an undecodable address does not run any hook.
    frameworkErrors: (error, request, reply) => {
      reply.headers(securityHeaders).header('x-request-id', request.id)
      void refuse(error, request, reply)
    },
  })
  const closeSilent = limitConnections(app.server, options)
  app.addHook('preClose', async () => void options.clock.sleep(firstByteMs).then(closeSilent))
  app.setErrorHandler(refuse)
  app.setSerializerCompiler(serializerCompiler)
  readRawBodies(app, options)
  const isOwnName = hostChecker(options.hostNames)
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(securityHeaders).header('x-request-id', request.id)
    // Pages of accounts and git write their own headers.
    if (options.isHttpsOnly) reply.raw.setHeader('strict-transport-security', httpsOnly)
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
  mountConsole(app, consoleDirectory)
  mountContract(app, options)
  mountGit(app, options)
  mountGitWebhooks(app, options)
  mountMetrics(app, options)
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

/** Reads bodies as bytes. Their content is parsed after the caller is authorised. */
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
  if (countHeader(rawHeaders, 'host') > 1) return new AppError('invalid', 'The Host header must be sent once.')
  // In absolute form, the request line names the host.
  const host = url.startsWith('/') ? headers.host : URL.parse(url)?.host
  if (isOwnName(host ?? '')) return undefined
  return new AppError('misdirected', 'This server does not answer to that host name; see QUAYSIDE_PUBLIC_URL.')
}

const maxKnownHosts = 100

/**
 * Creates the check whether a Host header names this server. It remembers the few names in use,
 * because parsing an address costs more than the rest.
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
  // Large and rarely requested: created on first use.
  let document: string | undefined
  app.get('/openapi.json', async (_request, reply) => {
    document ??= JSON.stringify(openApi(version))
    return reply.type('application/json; charset=utf-8').send(document)
  })
}

/**
 * Answers requests that the HTTP parser rejects in the same form as other errors, and ends the
 * connection.
 */
function refuseMalformed(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable) return
  const code =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? 'headersTooLarge'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 'requestTimeout'
        : 'invalid'
  const reply = errorReply(code, 'The request is not valid HTTP, is too large, or arrived too slowly.')
  const body = JSON.stringify(reply)
  endSocket(
    socket,
    `HTTP/1.1 ${reply.status} ${reply.error}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

/** Returns the version of the platform from its manifest. */
export const readManifestVersion = (): string =>
  String(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version)
