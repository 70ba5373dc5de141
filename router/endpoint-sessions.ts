import type { Socket } from 'node:net'
import type { Dispatcher } from 'undici'
import { after } from './clock.ts'
import { EndpointSession } from './endpoint-session.ts'
import { limits } from './limits.ts'
import type { DispatchOptions } from './request-trailers.ts'
import { refused } from './stream-broken.ts'
import { Silence, StreamDispatch } from './stream-dispatch.ts'

type Done = (...result: [null, Socket] | [Error, null]) => void

interface SessionsOptions {
  /** The address in the form of a Host header. */
  readonly label: string
  readonly idleMs: () => number
  connect(done: Done): void
}

type Waiting = (result: EndpointSession | Error) => void

/**
 * The HTTP/2 connections to one endpoint, without TLS. Requests share a connection up to the limit
 * of the endpoint, then another one is opened. One that announces its end gets no more requests.
 */
export class EndpointSessions {
  readonly #options: SessionsOptions
  readonly #open = new Set<EndpointSession>()
  /** Requests that wait for the shared connection that is being opened. */
  #opening: Set<Waiting> | undefined
  /** Requests that may be the reason why a shared connection had to end. */
  readonly #suspects = new WeakSet<DispatchOptions>()
  #closed = false

  constructor(options: SessionsOptions) {
    this.#options = options
  }

  /** Sends one request. Calls the handler like a dispatcher of undici. */
  dispatch(options: DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#route(new StreamDispatch(options, handler))
  }

  /** Closes idle connections now, and the others after their last request. */
  close(): void {
    this.#closed = true
    for (const { session } of this.#open) session.close()
  }

  #route(dispatch: StreamDispatch): void {
    const { options } = dispatch
    const isSuspect = this.#suspects.has(options)
    const free = isSuspect ? undefined : this.#findFree()
    if (free) {
      this.#send(free, dispatch)
      return
    }
    const limitMs = options.headersTimeout ?? limits.answerMs
    const late = (): void => {
      this.#forget(waiting)
      dispatch.abort(new Silence('no connection in time'))
    }
    const cancel = limitMs > 0 ? after(limitMs, late) : () => {}
    const waiting: Waiting = (result) => {
      cancel()
      if (result instanceof Error) dispatch.fail(result)
      else this.#send(result, dispatch)
    }
    if (isSuspect) this.#connect(waiting)
    else this.#await(waiting)
  }

  #findFree(): EndpointSession | undefined {
    for (const one of this.#open) if (one.isFree) return one
    return undefined
  }

  #await(waiting: Waiting): void {
    this.#opening ??= this.#openShared()
    this.#opening.add(waiting)
  }

  /** Opens a connection for the requests that wait for it then. */
  #openShared(): Set<Waiting> {
    const waiting = new Set<Waiting>()
    this.#connect((result) => this.#share(waiting, result))
    return waiting
  }

  /** Forgets a request. The next one opens another connection if no other waits for this one. */
  #forget(waiting: Waiting): void {
    this.#opening?.delete(waiting)
    if (this.#opening?.size === 0) this.#opening = undefined
  }

  #connect(ready: Waiting): void {
    this.#options.connect((error, socket) => {
      if (error) ready(error)
      else this.#begin(socket, ready)
    })
  }

  /** Passes the requests that wait to a new connection, or fails them. */
  #share(waiting: Set<Waiting>, result: EndpointSession | Error): void {
    if (this.#opening === waiting) this.#opening = undefined
    if (!(result instanceof Error)) this.#open.add(result)
    for (const one of waiting) {
      // More than fit into this connection open the next one.
      const free = result instanceof Error ? result : this.#findFree()
      if (free) one(free)
      else this.#await(one)
    }
  }

  /** The endpoint says first how many streams it accepts, and that it speaks HTTP/2 at all. */
  #begin(socket: Socket, ready: Waiting): void {
    const opened = new EndpointSession(socket, this.#options.label)
    const { session } = opened
    let isReady = false
    const settle = (result: EndpointSession | Error): void => {
      cancel()
      if (isReady) return
      isReady = true
      ready(result)
      this.#rest(opened)
    }
    const cancel = after(limits.settingsMs, () => {
      settle(new Silence('no settings in time'))
      session.destroy()
    })
    session.once('goaway', () => this.#open.delete(opened))
    session.once('remoteSettings', () => settle(opened.most > 0 ? opened : refused()))
    session.once('close', () => {
      this.#open.delete(opened)
      settle(refused())
    })
  }

  #send(opened: EndpointSession, dispatch: StreamDispatch): void {
    opened.begin()
    dispatch.send(opened, {
      done: () => {
        opened.end()
        this.#rest(opened)
      },
      suspect: () => void this.#suspects.add(dispatch.options),
      again: () => this.#route(dispatch),
    })
  }

  #rest(opened: EndpointSession): void {
    const { session, streams } = opened
    if (streams > 0 || session.destroyed) return
    if (this.#closed || !this.#open.has(opened)) session.close()
    else opened.rest(this.#options.idleMs())
  }
}
