import { constants, type IncomingHttpHeaders, performServerHandshake, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { Shares } from '@quayside/contract/connection-shares.ts'
import { clientGroup } from '@quayside/contract/forwarded.ts'
import { answerFailure } from './answer-failure.ts'
import { addressOf } from './client-address.ts'
import { ClientSession } from './client-session.ts'
import type { Connections } from './connections.ts'
import { limits } from './limits.ts'
import type { Failure } from './pages.ts'
import { SessionMemory } from './session-memory.ts'
import { asUpgrade, readStreamHead, type StreamHead, type StreamParts, StreamRequest } from './stream-request.ts'
import { StreamResponse } from './stream-response.ts'
import { newWebSocketKey, streamReply } from './stream-upgrade.ts'
import type { Traffic } from './traffic.ts'
import { serve, serveUpgrade } from './traffic-server.ts'

/** The types of Node.js do not know these options yet. */
const strictness = {
  maxSessionInvalidFrames: limits.invalidFrames,
  maxSessionRejectedStreams: limits.rejectedStreams,
  // HTTP/1.1 passes repeated headers of endpoints on, and so does HTTP/2.
  strictSingleValueFields: false,
}

const options = {
  settings: {
    maxConcurrentStreams: limits.streamsPerConnection,
    maxHeaderListSize: limits.headerBytes,
    initialWindowSize: limits.streamWindowBytes,
    enableConnectProtocol: true,
  },
  maxHeaderListPairs: limits.streamFields,
  streamResetBurst: limits.streamResets,
  streamResetRate: limits.streamResetsPerSecond,
  ...strictness,
}

/** A connection that speaks HTTP/2. */
interface Connected {
  /** What the client sees, encrypted or not. */
  readonly socket: Socket
  /** The connection that is counted. */
  readonly below: Socket
  /** The schemes that requests of this connection may have. */
  readonly schemes: readonly string[]
}

/** The HTTP/2 connections of clients. Each stream is a request as in HTTP/1.1. */
export class Sessions {
  readonly #traffic: Traffic
  readonly #connections: Connections
  readonly #sessions = new Set<ClientSession>()
  /** The open streams of each client. One connection must not multiply the share of a client. */
  readonly #streams = new Shares()

  constructor(traffic: Traffic, connections: Connections) {
    this.#traffic = traffic
    this.#connections = connections
  }

  /** Serves a connection until it ends. */
  accept(connected: Connected): void {
    const session = performServerHandshake(connected.socket, options)
    const life = new ClientSession(session, connected.below)
    const memory = new SessionMemory(session)
    this.#sessions.add(life)
    session.on('error', () => session.destroy())
    session.once('close', () => this.#sessions.delete(life))
    session.on('stream', (stream, headers, _flags, fields: readonly string[]) => {
      stream.on('error', () => stream.destroy())
      memory.outlive(stream)
      if (stream.destroyed) return
      life.begin()
      stream.once('close', () => life.end())
      this.#take(connected, life, { stream, headers, fields })
      // Like a connection of HTTP/1.1, it ends after its current responses.
      if (this.#traffic.leaving || this.#connections.isLeaving) life.close()
    })
  }

  /** Ends all connections: each one after its open streams. */
  leave(): void {
    for (const session of this.#sessions) session.close()
  }

  #take({ socket, below, schemes }: Connected, life: ClientSession, { stream, headers, fields }: Opened): void {
    const client = addressOf(socket)
    const { total, perClient } = this.#traffic.connections
    const share = this.#traffic.trusts(client) ? total : perClient
    const group = clientGroup(client)
    if (!this.#streams.take(group, share)) {
      this.#traffic.counts.refused++
      stream.close(constants.NGHTTP2_REFUSED_STREAM)
      return
    }
    this.#connections.begin(below)
    stream.once('close', () => {
      this.#streams.release(group)
      this.#connections.end(below)
    })
    // Without a reader, Node.js would not see the end of an empty body.
    if (stream.endAfterHeaders) stream.resume()
    const head = readStreamHead(fields, { schemes, hasBody: !stream.endAfterHeaders })
    const failure = head.bytes > limits.headerBytes ? tooLarge : refusalOf(head, stream)
    if (failure) this.#refuse(failure, head, { headers, socket, stream })
    else if (head.protocol !== undefined) this.#join(head, { headers, socket, stream })
    else {
      const request = new StreamRequest(head, { headers, socket, stream })
      const awaitsContinue = headers.expect?.toLowerCase() === '100-continue'
      serve(this.#traffic, request, new StreamResponse(stream), awaitsContinue)
    }
    if (failure === tooLarge) life.close()
  }

  #refuse(failure: Failure, head: StreamHead, parts: StreamParts): void {
    this.#traffic.counts.refused++
    // A status 2xx with an error of gRPC would mean that the stream is open.
    if (head.method === 'CONNECT') streamReply(parts.stream, '', parts.headers.accept).refuse(failure)
    else {
      const request = new StreamRequest(head, parts)
      answerFailure(request, new StreamResponse(parts.stream), failure, { hasBody: !request.complete })
    }
  }

  /** Serves a WebSocket as the upgrade that an HTTP/1.1 client would send. */
  #join(head: StreamHead, { headers, socket, stream }: StreamParts): void {
    const { key, accept } = newWebSocketKey()
    const asked = { ...headers, connection: 'upgrade', upgrade: head.protocol, 'sec-websocket-key': key }
    const request = new StreamRequest(asUpgrade(head, key), { headers: asked, socket, stream })
    const reply = streamReply(stream, accept, headers.accept)
    serveUpgrade(this.#traffic, request, { client: stream, early: Buffer.alloc(0), reply })
  }
}

const tooLarge: Failure = {
  status: 431,
  message: `The headers of the request are larger than ${limits.headerBytes / 1024} KiB.`,
}

function refusalOf({ method, protocol, refusal }: StreamHead, stream: ServerHttp2Stream): Failure | undefined {
  if (method === 'CONNECT') {
    if (protocol === undefined) return { status: 405, message: 'This server is not a proxy.' }
    if (protocol !== 'websocket') return { status: 501, message: 'This server knows no protocol but "websocket".' }
    if (stream.endAfterHeaders) return { status: 400, message: 'The WebSocket has ended before it began.' }
  }
  return refusal === undefined ? undefined : { status: 400, message: `The request is malformed: ${refusal}.` }
}

interface Opened {
  readonly stream: ServerHttp2Stream
  readonly headers: IncomingHttpHeaders
  readonly fields: readonly string[]
}
