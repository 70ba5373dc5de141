import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import { Shares } from '@quayside/contract/connection-shares.ts'
import { clientGroup } from '@quayside/contract/forwarded.ts'
import { refusalOfClient } from './apply-rules.ts'
import { after, monotonic } from './clock.ts'
import type { Endpoint } from './endpoint.ts'
import { failureOf } from './endpoint-failure.ts'
import { limits } from './limits.ts'
import { describe } from './log.ts'
import { addBytes, type Counter } from './service-counts.ts'
import type { Traffic } from './traffic.ts'

/** One client of a port, with the socket between it and its endpoint. */
interface Session {
  readonly client: RemoteInfo
  readonly counter: Counter
  /** Datagrams that arrived before the endpoint was connected. */
  early: Buffer[]
  endpoint?: Endpoint
  socket?: Socket
  /** The session ends after this much silence. */
  idleMs: number
  seenAt: number
  cancel: () => void
  hasEnded: boolean
}

/**
 * A UDP port of this machine. Each client keeps its endpoint for as long as datagrams flow in
 * either direction. Undeliverable datagrams are dropped.
 */
export class UdpPort {
  readonly #traffic: Traffic
  readonly #hostNow: () => string | undefined
  readonly #socket: Socket
  /**
   * Sessions by the address of their client. If the endpoint left the route, only `#all` has them.
   */
  readonly #sessions = new Map<string, Session>()
  readonly #all = new Set<Session>()
  readonly #shares = new Shares()

  constructor(traffic: Traffic, address: string, hostNow: () => string | undefined) {
    this.#traffic = traffic
    this.#hostNow = hostNow
    this.#socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
    this.#socket.on('message', (datagram, client) => this.#pass(datagram, client))
  }

  /** Rejects with the system's error if the port is not available. */
  async listen(address: string, port: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#socket.once('error', reject)
    this.#socket.bind({ address, port, exclusive: true }, resolve)
    try {
      await promise
    } catch (error) {
      this.#socket.close()
      throw error
    }
    this.#socket.off('error', reject)
    this.#socket.on('error', (error) => this.#traffic.log.error('port failed', { error: describe(error) }))
  }

  /**
   * Must be called after every new table. Clients of removed endpoints get another one with their
   * next datagram.
   */
  follow(): void {
    const host = this.#hostNow()
    const endpoints = host === undefined ? [] : (this.#traffic.routes.find(host)?.endpoints ?? [])
    for (const [key, session] of this.#sessions) {
      if (!session.endpoint || endpoints.includes(session.endpoint)) continue
      this.#sessions.delete(key)
      session.idleMs = limits.udpLeavingMs
      this.#watch(session)
    }
  }

  close(): Promise<void> {
    for (const session of this.#all) this.#end(session)
    return new Promise((resolve) => this.#socket.close(() => resolve()))
  }

  #pass(datagram: Buffer, client: RemoteInfo): void {
    const key = `${client.address} ${client.port}`
    const known = this.#sessions.get(key)
    if (!known) {
      this.#begin(key, datagram, client)
      return
    }
    known.seenAt = monotonic()
    addBytes(known.counter, datagram.length, 0)
    if (known.socket) known.socket.send(datagram)
    else if (known.early.length < limits.udpEarly) known.early.push(datagram)
  }

  #begin(key: string, datagram: Buffer, client: RemoteInfo): void {
    const host = this.#hostNow()
    const target = host === undefined ? undefined : this.#traffic.routes.find(host)
    const isRefused = target?.rules && refusalOfClient({ remoteAddress: client.address }, target.rules)
    const isFull = this.#all.size >= limits.udpClients
    const address = clientGroup(client.address)
    if (
      !target ||
      host === undefined ||
      isRefused ||
      isFull ||
      !this.#shares.take(address, limits.udpClientsPerAddress)
    ) {
      this.#traffic.counts.refused++
      return
    }
    const { service } = target.route
    const counter = this.#traffic.services.of(service)
    addBytes(counter, datagram.length, 0)
    this.#traffic.services.recordConnection(service)
    const session: Session = {
      client,
      counter,
      early: [datagram],
      idleMs: limits.udpIdleMs,
      seenAt: monotonic(),
      cancel: () => {},
      hasEnded: false,
    }
    this.#sessions.set(key, session)
    this.#all.add(session)
    this.#traffic.counts.requests++
    this.#traffic.counts.open++
    if (!failureOf(target, host)) this.#connect(session, host)
    else if (!target.route.asleep) this.#end(session)
    else {
      session.cancel = this.#traffic.waiting.hold({ host }, target, {
        go: () => this.#connect(session, host),
        fail: () => this.#end(session),
      })
    }
  }

  #connect(session: Session, host: string): void {
    const target = this.#traffic.routes.find(host)
    const endpoint = target && this.#traffic.routes.choose(target)
    if (session.hasEnded) return
    if (!endpoint) {
      this.#end(session)
      return
    }
    endpoint.hold()
    session.endpoint = endpoint
    const socket = createSocket(isIPv6(endpoint.address) ? 'udp6' : 'udp4')
    // No program listens there. The next datagram goes to another endpoint, if any.
    socket.on('error', () => {
      endpoint.asideUntil = monotonic() + limits.asideMs
      this.#end(session)
    })
    socket.on('message', (answer) => {
      session.seenAt = monotonic()
      addBytes(session.counter, 0, answer.length)
      this.#socket.send(answer, session.client.port, session.client.address)
    })
    socket.connect(endpoint.port, endpoint.address, () => {
      if (session.hasEnded) return
      session.socket = socket
      for (const datagram of session.early) socket.send(datagram)
      session.early = []
    })
    session.cancel = () => socket.close()
    this.#watch(session)
  }

  /** Ends a session after its time of silence. */
  #watch(session: Session): void {
    if (session.hasEnded) return
    const leftMs = session.seenAt + session.idleMs - monotonic()
    if (leftMs <= 0) this.#end(session)
    else after(leftMs, () => this.#watch(session))
  }

  #end(session: Session): void {
    if (session.hasEnded) return
    session.hasEnded = true
    this.#traffic.counts.open--
    this.#all.delete(session)
    this.#shares.release(clientGroup(session.client.address))
    const key = `${session.client.address} ${session.client.port}`
    if (this.#sessions.get(key) === session) this.#sessions.delete(key)
    session.cancel()
    session.endpoint?.release()
  }
}
