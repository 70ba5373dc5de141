import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Authorized, type Visible, visible } from '../../access/index.ts'
import type { AppError } from '../../lib/error.ts'
import type { StateChange, StateChanges } from '../../state-changes/index.ts'
import type { OpenStream } from './open-streams.ts'

/** The most bytes that are queued for a client that does not read. */
const longestQueueBytes = 256 * 1024
/** The most changes that are held while a client still receives earlier ones. */
const mostPending = 5_000

export interface EventClientOptions {
  readonly response: ServerResponse
  readonly socket: Socket
  readonly key: string
  readonly check: () => Promise<Authorized>
  readonly authorized: Authorized
  readonly feed: StateChanges
}

/** A client of server-sent events. It gets the changes it may read, in order, each once. */
export class EventClient implements OpenStream {
  readonly socket: Socket
  readonly key: string
  readonly check: () => Promise<Authorized>
  readonly #response: ServerResponse
  readonly #feed: StateChanges
  #visible: Visible
  /** Changes held while earlier ones are sent. */
  #pending: StateChange[] | undefined = []
  #last = 0

  constructor({ response, socket, key, check, authorized, feed }: EventClientOptions) {
    this.socket = socket
    this.key = key
    this.check = check
    this.#response = response
    this.#feed = feed
    this.#visible = visibleTo(authorized)
  }

  /** Receives a change from the feed's reader. Must not wait. */
  receive(change: StateChange): void {
    if (!this.#pending) this.#tell(change)
    else if (this.#pending.push(change) > mostPending) this.socket.destroy()
  }

  /**
   * Sends the changes that the client missed, then those received meanwhile. `known` is the number
   * it has seen last, NaN if invalid. `from` is the number after which changes are received live.
   */
  async begin(organizationId: string, known: number | undefined, from: number): Promise<void> {
    const position = known === undefined ? undefined : await this.#feed.position(Number.isNaN(known) ? -1 : known)
    this.#last = position?.complete ? position.after : from
    if (position?.complete === false) this.#write(`id: ${from}\nevent: reset\ndata: {"reason":"${tooOld}"}\n\n`)
    else this.#write(`id: ${this.#last}\nevent: ready\ndata: {}\n\n`)
    while (this.#last < from && !this.#response.destroyed) {
      const page = await this.#feed.read(organizationId, this.#last, from)
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
    const delivered = this.#feed.delivered()
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
    if (projectId !== undefined) return this.#visible.environment(projectId, mode ?? '')
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
