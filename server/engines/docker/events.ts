import { createInterface } from 'node:readline'
import type { Clock } from '../../lib/clock.ts'
import { nobodyWaits } from '../../lib/nobody-waits.ts'
import type { DockerDaemon } from './daemon.ts'
import { label } from './labels.ts'

/** What happened to a container of this installation. */
export interface ContainerEvent {
  /** `start`, `die`, `destroy`, … as in Docker's `GET /events`. */
  readonly action: string
  readonly container: string
  readonly service: string
  /** Its labels, `name` and `image`. */
  readonly attributes: Readonly<Record<string, string>>
}

/** Undefined: the line to the daemon was cut and is there again, anything may have happened. */
export type Listener = (event: ContainerEvent | undefined) => void

/** Whether something happened to the containers of one service. */
export interface News {
  /** Until something happened since the last wait; so long at most while the daemon tells of it, or else so long. */
  wait(limits: { readonly toldMs: number; readonly untoldMs: number }, signal: AbortSignal): Promise<void>
  stop(): void
}

/** What changes how containers look; programs that are run in them (`exec_…`) do not. */
const actions = [
  ...['create', 'start', 'die', 'destroy', 'pause', 'unpause', 'rename', 'update', 'oom', 'stop', 'kill'],
  ...['connect', 'disconnect'],
]
/** The daemon ends a line after so long, so that none stays that nobody needs any more. */
const lineSeconds = 60
/** The next line begins so much earlier: what is told twice does no harm. */
const overlapSeconds = 2
/** Who asked for the count so long ago does not ask any more. */
const interestMs = 15_000
const retryMs = 500

/**
 * What happens to containers, told by one line to the daemon to all who want to know. The line is there while somebody listens or asks for
 * the count now and then.
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

  /** `heard` is told of all containers while there is a line; to have one, somebody has to listen or to ask for the count. */
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

  /** Grows with everything that happens. Undefined: nobody tells at the moment. */
  count(): number | undefined {
    this.#askedMs = this.#clock.monotonic()
    this.#follow()
    return this.#isTold ? this.#count : undefined
  }

  /** Something was done here: nobody has to wait until the daemon tells of it. */
  happened(): void {
    this.#count++
  }

  /** Tells of the containers of one service until the function that is given back is called. */
  listen(service: string, hear: Listener): () => void {
    const listener = { service, hear }
    this.#listeners.add(listener)
    this.#follow()
    return () => void this.#listeners.delete(listener)
  }

  /** For one who looks at the containers of a service again and again; `stop` ends it. */
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
      // A daemon that is away is told of by whoever looks at containers.
      since = await this.#oneLine(since).catch(() => undefined)
      this.#isTold = false
      if (since === undefined) await this.#clock.sleep(retryMs)
    }
    // At once, so that who asks next begins anew.
    this.#isFollowing = false
  }

  /** Gives the second from which the next line has to tell; undefined where this one was cut. */
  async #oneLine(since: number | undefined): Promise<number | undefined> {
    const until = Math.floor(this.#clock.now().getTime() / 1000) + lineSeconds
    const query = { filters: { type: ['container', 'network'], event: actions }, until, ...(since && { since }) }
    // The daemon ends it. One that stands still says nothing more: looks at containers that go on now and then notice that.
    const signal = AbortSignal.timeout((lineSeconds + 30) * 1000)
    const response = await this.#daemon.stream({ method: 'GET', path: '/events', query, signal })
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

/** Reads one line of the daemon's answer; undefined for what happened to something else. */
export function toEvent(line: string, instance: string): ContainerEvent | undefined {
  // The shape is that of Docker's published API.
  const { Type, Action, Actor } = JSON.parse(line) as {
    Type: string
    Action: string
    Actor?: { ID: string; Attributes?: Readonly<Record<string, string>> }
  }
  const attributes = Actor?.Attributes ?? {}
  const { [label.instance]: owner, [label.service]: service } = attributes
  if (Type !== 'container' || !Actor || owner !== instance || service === undefined) return undefined
  return { action: Action, container: Actor.ID, service, attributes }
}
