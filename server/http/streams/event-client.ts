import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Authorized, type Visible, visible } from '../../access/index.ts'
import type { AppError } from '../../lib/error.ts'
import type { StateChange, StateChanges } from '../../state-changes/index.ts'
import type { OpenStream, OpenStreams } from './open-streams.ts'
import type { StreamPlace } from './stream-places.ts'

/** The most bytes that are queued for a client that does not read. */
const longestQueueBytes = 256 * 1024
/** The most changes that are held while a client still receives earlier ones. */
const mostPending = 5_000

/** What all clients share. */
export interface EventDoor {
  readonly openStreams: OpenStreams
  readonly stateChanges: StateChanges
  /** Authenticates and authorises a caller. */
  authorize(authorization: string | undefined, organizationId: string): Promise<Authorized>
}

export interface EventClientOptions {
  readonly door: EventDoor
  readonly place: StreamPlace
  readonly response: ServerResponse
  readonly authorization: string | undefined
  readonly organizationId: string
  readonly authorized: Authorized
}

/**
 * A client of server-sent events. It gets the changes it may read, in order, each once. Thousands
 * may be connected, so a client keeps no function and no text of its own that all could share.
 */
export class EventClient implements OpenStream {
  readonly socket: Socket
  readonly #door: EventDoor
  readonly #place: StreamPlace
  readonly #response: ServerResponse
  readonly #authorization: string | undefined
  readonly #organizationId: string
  #visible: Visible
  /** Changes held while earlier ones are sent. */
  #pending: StateChange[] | undefined = []
  #last = 0

  constructor({ door, place, response, authorization, organizationId, authorized }: EventClientOptions) {
    this.socket = response.req.socket
    this.#door = door
    this.#place = place
    this.#response = response
    this.#authorization = authorization
    this.#organizationId = organizationId
    this.#visible = visibleTo(authorized)
  }

  get key(): string {
    return `${this.#authorization} ${this.#organizationId}`
  }

  check(): Promise<Authorized> {
    return this.#door.authorize(this.#authorization, this.#organizationId)
  }

  /**
   * Follows the changes until the connection closes. Returns the number after which they are
   * received live. If it throws, the place is free again.
   */
  async follow(): Promise<number> {
    const from = await this.#door.stateChanges.follow(this.#organizationId, this.#receive).catch((error) => {
      this.#place.release()
      throw error
    })
    this.#response.on('close', this.#leave)
    // The client may have disconnected already.
    if (this.socket.destroyed) this.#leave()
    return from
  }

  /** Receives a change from the feed's reader. Must not wait. */
  readonly #receive = (change: StateChange): void => {
    if (!this.#pending) this.#tell(change)
    else if (this.#pending.push(change) > mostPending) this.socket.destroy()
  }

  readonly #leave = (): void => {
    this.#door.stateChanges.unfollow(this.#organizationId, this.#receive)
    this.#door.openStreams.remove(this)
    this.#place.release()
  }

  /**
   * Sends the changes that the client missed, then those received meanwhile. `known` is the number
   * it has seen last, NaN if invalid. `from` is the number after which changes are received live.
   */
  async begin(known: number | undefined, from: number): Promise<void> {
    const position =
      known === undefined ? undefined : await this.#door.stateChanges.position(Number.isNaN(known) ? -1 : known)
    this.#last = position?.complete ? position.after : from
    if (position?.complete === false) this.#write(`id: ${from}\nevent: reset\ndata: {"reason":"${tooOld}"}\n\n`)
    else this.#write(`id: ${this.#last}\nevent: ready\ndata: {}\n\n`)
    while (this.#last < from && !this.#response.destroyed) {
      const page = await this.#door.stateChanges.read(this.#organizationId, this.#last, from)
      for (const change of page) this.#tell(change)
      if (page.length === 0) this.#last = from
      if (this.#response.writableNeedDrain) await drained(this.#response)
    }
    for (const change of this.#pending ?? []) this.#tell(change)
    this.#pending = undefined
  }

  renew(authorized: Authorized): void {
    this.#visible = visibleTo(authorized)
  }

  /** Sends a beat with the client's position, which includes changes that it may not read. */
  beat(): void {
    if (this.#pending) return
    const delivered = this.#door.stateChanges.delivered()
    this.#write(delivered > this.#last ? `id: ${delivered}\n\n` : ':\n\n')
    this.#last = Math.max(this.#last, delivered)
  }

  end(error?: AppError): void {
    if (error) this.#write(`event: end\ndata: ${JSON.stringify({ reason: error.message })}\n\n`)
    this.#response.end()
    // A client that does not read would not see the end either.
    if (this.#response.writableLength > 0) this.#response.once('finish', () => this.socket.destroySoon())
  }

  #tell(change: StateChange): void {
    if (change.sequence <= this.#last) return
    this.#last = change.sequence
    if (this.#mayRead(change)) this.#write(frameOf(change))
  }

  #mayRead({ projectId, mode, clusterId }: StateChange): boolean {
    if (projectId !== undefined) {
      return mode === undefined ? this.#visible.project(projectId) : this.#visible.environment(projectId, mode)
    }
    return clusterId === undefined || this.#visible.cluster(clusterId)
  }

  #write(text: string): void {
    if (this.#response.writableEnded || this.#response.destroyed) return
    this.#response.write(text)
    if (this.#response.writableLength > longestQueueBytes) this.socket.destroy()
  }
}

const known = new WeakMap<Authorized, Visible>()

/** Returns what the client may see. Clients that are checked together share it. */
function visibleTo(authorized: Authorized): Visible {
  const shared = known.get(authorized) ?? visible(authorized.caller)
  known.set(authorized, shared)
  return shared
}

const tooOld = 'Events since then are no longer stored: read everything again.'

const frames = new WeakMap<StateChange, string>()

/**
 * Creates the frame of a change once for all clients. Serialised JSON has no line breaks, so its
 * content cannot look like another event.
 */
function frameOf(change: StateChange): string {
  const known = frames.get(change)
  if (known !== undefined) return known
  const { sequence, type, data } = change
  const frame = `id: ${sequence}\nevent: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`
  frames.set(change, frame)
  return frame
}

function drained(response: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  response.once('drain', resolve).once('close', resolve)
  return promise
}
