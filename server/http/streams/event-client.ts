import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Authorized, type Visible, visible } from '../../access/index.ts'
import type { AppError } from '../../lib/error.ts'
import type { StateChange, StateChanges } from '../../state-changes/index.ts'
import type { OpenStream } from './open-streams.ts'

/** What may wait for a client that does not read. */
const longestQueueBytes = 256 * 1024
/** Changes that may come while a client is still told of former ones. */
const mostPending = 5_000

export interface EventClientOptions {
  readonly response: ServerResponse
  readonly socket: Socket
  readonly key: string
  readonly check: () => Promise<Authorized>
  readonly authorized: Authorized
  readonly feed: StateChanges
}

/** One client of server-sent events: sent what it may read, in order, each change once. */
export class EventClient implements OpenStream {
  readonly socket: Socket
  readonly key: string
  readonly check: () => Promise<Authorized>
  readonly #response: ServerResponse
  readonly #feed: StateChanges
  #visible: Visible
  /** While former changes are told. */
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

  /** From the feed's reader: must not wait. */
  receive(change: StateChange): void {
    if (!this.#pending) this.#tell(change)
    else if (this.#pending.push(change) > mostPending) this.socket.destroy()
  }

  /**
   * Tells what the client missed, then what came meanwhile. `known`: the number it has seen last,
   * NaN where it is none; `from`: after it changes are received.
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

  /** Also tells how far the client is: what it may not read counts, too. */
  beat(): void {
    if (this.#pending) return
    const delivered = this.#feed.delivered()
    this.#write(delivered > this.#last ? `id: ${delivered}\n\n` : ':\n\n')
    this.#last = Math.max(this.#last, delivered)
  }

  end(error?: AppError): void {
    if (error) this.#write(`event: end\ndata: ${JSON.stringify({ reason: error.message })}\n\n`)
    this.#response.end()
    // Whoever does not read does not see the end either.
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

/** Clients that are checked together share it. */
function visibleTo(authorized: Authorized): Visible {
  const shared = known.get(authorized) ?? visible(authorized.caller)
  known.set(authorized, shared)
  return shared
}

const tooOld = 'What happened since is not kept any more: read everything again.'

const frames = new WeakMap<StateChange, string>()

/**
 * Made once for all clients. JSON has no line ends of its own, so that nothing in it can look like
 * another event.
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
