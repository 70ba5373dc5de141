import { type ClientHttp2Session, connect, constants } from 'node:http2'
import type { Socket } from 'node:net'
import type { Dispatcher } from 'undici'
import { after } from './clock.ts'
import { limits } from './limits.ts'
import type { DispatchOptions } from './request-trailers.ts'
import { SessionMemory } from './session-memory.ts'
import { StreamBroken, StreamDispatch } from './stream-dispatch.ts'

type Done = (...result: [null, Socket] | [Error, null]) => void

interface SessionsOptions {
  /** The address in the form of a Host header. */
  readonly label: string
  readonly idleMs: () => number
  connect(done: Done): void
}

/** One HTTP/2 connection to an endpoint. */
interface Open {
  readonly session: ClientHttp2Session
  readonly memory: SessionMemory
  streams: number
  /** Whether the endpoint has said how many streams it accepts. */
  isReady: boolean
  cancelIdle: () => void
}

type Waiting = (result: Open | Error) => void

/**
 * The HTTP/2 connections to one endpoint, without TLS. Requests share a connection up to the limit
 * of the endpoint, then another one is opened. One that announces its end gets no more requests.
 */
export class EndpointSessions {
  readonly #options: SessionsOptions
  readonly #open = new Set<Open>()
  /** Requests that wait for the connection that is being opened. */
  #waiting: Waiting[] = []
  #closed = false

  constructor(options: SessionsOptions) {
    this.#options = options
  }

  /** Sends one request. Calls the handler like a dispatcher of undici. */
  dispatch(options: DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    const dispatch = new StreamDispatch(options, handler)
    this.#take((result) => {
      if (result instanceof Error) dispatch.fail(result)
      else this.#send(result, dispatch)
    })
  }

  /** Closes idle connections now, and the others after their last request. */
  close(): void {
    this.#closed = true
    for (const { session } of this.#open) session.close()
  }

  #take(waiting: Waiting): void {
    for (const one of this.#open) {
      if (!isFree(one)) continue
      waiting(one)
      return
    }
    this.#waiting.push(waiting)
    if (this.#waiting.length === 1) this.#connect()
  }

  #connect(): void {
    this.#options.connect((error, socket) => {
      if (error) this.#release(error)
      else this.#begin(socket)
    })
  }

  /** Passes the requests that wait to a new connection, or fails them. */
  #release(result: Open | Error): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const one of waiting) {
      // More than fit into this connection open the next one.
      if (result instanceof Error || isFree(result)) one(result)
      else this.#take(one)
    }
    if (!(result instanceof Error)) this.#rest(result)
  }

  /** The endpoint says first how many streams it accepts, and that it speaks HTTP/2 at all. */
  #begin(socket: Socket): void {
    const session = connect(`http://${this.#options.label}`, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: limits.streamWindowBytes },
      peerMaxConcurrentStreams: limits.streamsPerConnection,
      maxHeaderListPairs: limits.streamFields,
      ...lenience,
    })
    const memory = new SessionMemory(session)
    const opened: Open = { session, memory, streams: 0, isReady: false, cancelIdle: () => {} }
    this.#open.add(opened)
    const forget = (): void => {
      opened.cancelIdle()
      this.#open.delete(opened)
    }
    const cancel = after(limits.answerMs, () => session.destroy())
    session.on('error', () => session.destroy())
    session.once('goaway', forget)
    session.once('remoteSettings', () => {
      opened.isReady = true
      cancel()
      this.#release(opened)
    })
    session.once('close', () => {
      forget()
      cancel()
      if (!opened.isReady) this.#release(new StreamBroken(constants.NGHTTP2_REFUSED_STREAM, true))
    })
  }

  #send(opened: Open, dispatch: StreamDispatch): void {
    opened.cancelIdle()
    opened.streams++
    dispatch.send(opened, () => {
      opened.streams--
      this.#rest(opened)
    })
  }

  #rest(opened: Open): void {
    const { session } = opened
    if (opened.streams > 0 || session.destroyed) return
    if (this.#closed) session.close()
    else opened.cancelIdle = after(this.#options.idleMs(), () => session.close())
  }
}

/** The types of Node.js do not know this option yet. */
const lenience = { strictSingleValueFields: false }

function isFree({ session, streams, isReady }: Open): boolean {
  if (!isReady) return false
  const { maxConcurrentStreams = limits.streamsPerConnection } = session.remoteSettings
  return !session.closed && !session.destroyed && streams < Math.min(maxConcurrentStreams, limits.openPerEndpoint)
}
