import { createHash } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import type { Route, RouteEndpoint } from '@quayside/contract/routes.ts'
import type { Dispatcher, Pool as UndiciPool } from 'undici'
import Pool from 'undici/lib/dispatcher/pool.js'
import type { Canary } from './canaries.ts'
import { after } from './clock.ts'
import { EndpointSessions } from './endpoint-sessions.ts'
import { limits } from './limits.ts'
import type { DispatchOptions } from './request-trailers.ts'
import { TrailedDispatch } from './trailed-dispatch.ts'

export const keyOf = ({ address, port }: RouteEndpoint): string => `${address} ${port}`

/**
 * One address that requests go to: its connections, its open requests, and whether it is avoided
 * for now.
 */
export class Endpoint {
  readonly address: string
  readonly port: number
  /** The value of `keyOf`. */
  readonly key: string
  /** For logs and pages. */
  readonly label: string
  /** Requests and upgraded connections that have not ended. */
  open = 0
  /** Every request so far. It only grows. */
  total = 0
  /** The new version that it belongs to, while that is being tried out. */
  canary: Canary | undefined
  /** Avoided until this time, in monotonic milliseconds. */
  asideUntil = 0
  #listed = true
  #id: string | undefined
  #pool: UndiciPool | undefined
  #sessions: EndpointSessions | undefined
  #speaksHttp2 = false
  #idle: (() => void)[] = []
  #connectMs: number = limits.connectMs
  #idleMs: number = limits.endpointIdleMs

  constructor({ address, port }: RouteEndpoint) {
    this.address = address
    this.port = port
    this.key = keyOf({ address, port })
    this.label = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
  }

  /** Sends one request. The caller holds the endpoint meanwhile. */
  dispatch(options: DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    if (this.#speaksHttp2) {
      this.#sessions ??= this.#newSessions()
      this.#sessions.dispatch(options, handler)
      return
    }
    const { trailers } = options
    if (trailers) {
      const dispatch = new TrailedDispatch({ ...options, trailers }, handler)
      this.connect((error, socket) => (error ? dispatch.fail(error) : dispatch.send(socket)))
      return
    }
    this.#pool ??= new Pool(`http://${this.label}`, {
      connections: limits.openPerEndpoint,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: this.#idleMs,
      // An endpoint may ask for a longer time, unless a rule sets it.
      ...(this.#idleMs === limits.endpointIdleMs ? {} : { keepAliveMaxTimeout: this.#idleMs }),
      headersTimeout: limits.answerMs,
      bodyTimeout: 0,
      maxHeaderSize: limits.headerBytes,
      connect: (_target, done) => this.connect(done),
    })
    this.#pool.dispatch(options, handler)
  }

  /**
   * Opens one connection. Calls `done` once, with the connection or with the error. With
   * `allowHalfOpen`, the end of one direction leaves the other open.
   */
  connect(done: (...result: [null, Socket] | [Error, null]) => void, allowHalfOpen = false): void {
    const socket = connect({ host: this.address, port: this.port, noDelay: true, keepAlive: true, allowHalfOpen })
    const cancel = after(this.#connectMs, () => socket.destroy(connectTimeout(this.#connectMs)))
    let settled = false
    const settle = (...result: [null, Socket] | [Error, null]): void => {
      cancel()
      if (!settled) done(...result)
      settled = true
    }
    socket.on('error', (error) => settle(error, null))
    socket.once('connect', () => settle(null, socket))
  }

  /** Applies the settings of its route. Open requests keep their connections. */
  tune({ rules = {}, speaksHttp2 = false }: Pick<Route, 'rules' | 'speaksHttp2'>): void {
    const { connectTimeoutMs, idleTimeoutMs } = rules
    this.#speaksHttp2 = speaksHttp2
    this.#connectMs = connectTimeoutMs ?? limits.connectMs
    const idleMs = idleTimeoutMs ?? limits.endpointIdleMs
    if (idleMs === this.#idleMs) return
    this.#idleMs = idleMs
    const pool = this.#pool
    this.#pool = undefined
    pool?.close().catch(() => {})
  }

  /** Identifies the endpoint without revealing its address. */
  get id(): string {
    this.#id ??= createHash('sha256').update(`${this.address} ${this.port}`).digest('base64url').slice(0, 16)
    return this.#id
  }

  /** Counts one more open request. `release` must follow exactly once. */
  hold(): void {
    this.open++
    this.total++
  }

  release(): void {
    this.open--
    if (this.open > 0) return
    for (const tell of this.#idle.splice(0)) tell()
    this.#closeIfUnused()
  }

  /**
   * Whether a route uses this endpoint. An endpoint without a route closes once it has no open
   * request.
   */
  set listed(listed: boolean) {
    this.#listed = listed
    this.#closeIfUnused()
  }

  get listed(): boolean {
    return this.#listed
  }

  /** Calls `tell` once no request is open. The returned function cancels that. */
  whenIdle(tell: () => void): () => void {
    if (this.open === 0) {
      tell()
      return () => {}
    }
    this.#idle.push(tell)
    return () => {
      this.#idle = this.#idle.filter((other) => other !== tell)
    }
  }

  #newSessions(): EndpointSessions {
    return new EndpointSessions({
      label: this.label,
      idleMs: () => this.#idleMs,
      connect: (done) => this.connect(done),
    })
  }

  #closeIfUnused(): void {
    if (this.#listed || this.open > 0) return
    this.#sessions?.close()
    this.#sessions = undefined
    const pool = this.#pool
    this.#pool = undefined
    pool?.destroy().catch(() => {})
  }
}

const connectTimeout = (ms: number): Error =>
  Object.assign(new Error(`no connection within ${ms} ms`), { code: 'ETIMEDOUT' })
