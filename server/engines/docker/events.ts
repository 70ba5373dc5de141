import { createInterface } from 'node:readline'
import type { Clock } from '../../lib/clock.ts'
import { ForeignJsonProblem, parseForeign } from '../../lib/foreign-json.ts'
import { nobodyWaits } from '../../lib/nobody-waits.ts'
import type { DockerDaemon } from './daemon.ts'
import { label } from './labels.ts'

/** An event of a container of this installation. */
export interface ContainerEvent {
  /** `start`, `die`, `destroy`, … as in Docker's `GET /events`. */
  readonly action: string
  readonly container: string
  readonly service: string
  /** Its labels, `name` and `image`. */
  readonly attributes: Readonly<Record<string, string>>
}

/**
 * Undefined: the connection to the daemon broke and is open again, so anything may have happened.
 */
export type Listener = (event: ContainerEvent | undefined) => void

/** Reports whether something happened to the containers of one service. */
export interface News {
  /**
   * Waits until something has happened since the last wait: at most `toldMs` while the daemon
   * reports events, else `untoldMs`.
   */
  wait(limits: { readonly toldMs: number; readonly untoldMs: number }, signal: AbortSignal): Promise<void>
  stop(): void
}

/** The actions that change how containers look; programs run inside them (`exec_…`) do not. */
const actions = [
  ...['create', 'start', 'die', 'destroy', 'pause', 'unpause', 'rename', 'update', 'oom', 'stop', 'kill'],
  ...['connect', 'disconnect'],
]
/** The daemon closes a connection after this time, so that none outlives its use. */
const lineSeconds = 60
/** The overlap with the previous connection: an event reported twice does no harm. */
const overlapSeconds = 2
/** The time after which a caller that asked for the count is no longer interested. */
const interestMs = 15_000
const retryMs = 500

/**
 * Distributes the events of containers over one connection to the daemon. The connection is open
 * while somebody listens or asks for the count from time to time.
 */
export class Events {
  readonly #daemon: DockerDaemon
  readonly #clock: Clock
  readonly #instance: string
  readonly #heard: Listener
  readonly #listeners = new Set<{ readonly service: string; readonly hear: Listener }>()
  #count = 0
  #isTold = false
  #askedMs = Number.NEGATIVE_INFINITY
  #isFollowing = false

  /**
   * `heard` receives the events of all containers while a connection is open; that needs a
   * listener, or somebody who asks for the count.
   */
  constructor(options: {
    readonly daemon: DockerDaemon
    readonly clock: Clock
    readonly instance: string
    readonly heard: Listener
  }) {
    this.#daemon = options.daemon
    this.#clock = options.clock
    this.#instance = options.instance
    this.#heard = options.heard
  }

  /** Grows with every event. Undefined: no events are reported at the moment. */
  count(): number | undefined {
    this.#askedMs = this.#clock.monotonic()
    this.#follow()
    return this.#isTold ? this.#count : undefined
  }

  /** Counts a change made here, so nobody has to wait until the daemon reports it. */
  happened(): void {
    this.#count++
  }

  /** Reports events of one service's containers until the returned function is called. */
  listen(service: string, hear: Listener): () => void {
    const listener = { service, hear }
    this.#listeners.add(listener)
    this.#follow()
    return () => void this.#listeners.delete(listener)
  }

  /** Returns news for a caller that looks at a service's containers repeatedly; `stop` ends it. */
  news(service: string): News {
    let isNew = false
    let wake = Promise.withResolvers<void>()
    const stop = this.listen(service, () => {
      isNew = true
      wake.resolve()
    })
    return {
      stop,
      wait: async ({ toldMs, untoldMs }, signal) => {
        const end = new AbortController()
        const limit = this.#clock.sleep(this.#isTold ? toldMs : untoldMs, AbortSignal.any([signal, end.signal]))
        try {
          if (!isNew) await Promise.race([limit, wake.promise])
        } finally {
          limit.catch(() => {})
          end.abort(nobodyWaits)
        }
        isNew = false
        wake = Promise.withResolvers()
      },
    }
  }

  #follow(): void {
    if (this.#isFollowing) return
    this.#isFollowing = true
    void this.#keepFollowing()
  }

  async #keepFollowing(): Promise<void> {
    let since: number | undefined
    while (this.#listeners.size > 0 || this.#clock.monotonic() - this.#askedMs < interestMs) {
      // Code that looks at containers reports a daemon that is away.
      since = await this.#oneLine(since).catch(() => undefined)
      this.#isTold = false
      if (since === undefined) await this.#clock.sleep(retryMs)
    }
    // Immediately, so that the next question opens a new connection.
    this.#isFollowing = false
  }

  /** Returns the second from which the next connection must report; undefined if this one broke. */
  async #oneLine(since: number | undefined): Promise<number | undefined> {
    const until = Math.floor(this.#clock.now().getTime() / 1000) + lineSeconds
    const query = { filters: { type: ['container', 'network'], event: actions }, until, ...(since && { since }) }
    // The daemon closes it. A stalled one stays silent: periodic looks at containers notice that.
    const signal = AbortSignal.timeout((lineSeconds + 30) * 1000)
    const response = await this.#daemon.stream({ method: 'GET', path: '/events', query, signal })
    // A process that has nothing else to do ends.
    response.socket.unref()
    this.#isTold = true
    this.#count++
    if (since === undefined) {
      this.#heard(undefined)
      for (const { hear } of [...this.#listeners]) hear(undefined)
    }
    try {
      for await (const line of createInterface({ input: response })) this.#tell(toEvent(line, this.#instance))
    } finally {
      response.destroy()
    }
    return this.#clock.now().getTime() / 1000 >= until - 1 ? until - overlapSeconds : undefined
  }

  #tell(event: ContainerEvent | undefined): void {
    this.#count++
    if (!event) return
    this.#heard(event)
    for (const { service, hear } of [...this.#listeners]) if (service === event.service) hear(event)
  }
}

/** Parses one line of the daemon's answer; undefined for events of anything else. */
export function toEvent(line: string, instance: string): ContainerEvent | undefined {
  // The shape is that of Docker's published API.
  const { Type, Action, Actor } = parsed(line) as {
    Type?: string
    Action: string
    Actor?: { ID: string; Attributes?: Readonly<Record<string, string>> }
  }
  const attributes = Actor?.Attributes ?? {}
  const { [label.instance]: owner, [label.service]: service } = attributes
  if (Type !== 'container' || !Actor || owner !== instance || service === undefined) return undefined
  return { action: Action, container: Actor.ID, service, attributes }
}

/** The labels of a user's image are attributes too. An event with too many is not one of ours. */
function parsed(line: string): unknown {
  try {
    return Object(parseForeign(Buffer.from(line)))
  } catch (error) {
    if (error instanceof ForeignJsonProblem) return {}
    throw error
  }
}
