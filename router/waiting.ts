import { randomInt } from 'node:crypto'
import { after, monotonic } from './clock.ts'
import { failureOf, movedAway } from './endpoint-failure.ts'
import { limits } from './limits.ts'
import type { Failure } from './pages.ts'
import type { Routes, Target } from './routes.ts'

/** One request that waits for its service. Exactly one of the two is called, unless its client went away before. */
export interface Held {
  /** There is an endpoint now. */
  go(target: Target): void
  fail(failure: Failure): void
}

/** The host and path of a request; a TCP or UDP connection has no path. */
interface Asked {
  readonly host: string
  readonly url?: string | undefined
}

interface Entry extends Held, Asked {
  readonly service: string
  readonly name: string
  readonly cancelTimer: () => void
}

/** Services with held requests; a sequence other than the one last seen means that there is something new. */
export interface Wakes {
  readonly sequence: number
  readonly services: readonly string[]
}

/**
 * Holds requests for services that are asleep, within bounds, until a table gives their service an endpoint. Nothing of their bodies is
 * read meanwhile. The control plane asks `wakes` which services are to be started; while it is away requests wait in vain and are told so.
 */
export class Waiting {
  readonly #routes: Routes
  readonly #heldMs: number
  readonly #held = new Map<string, Set<Entry>>()
  #total = 0
  /** Begins anywhere, so that a new process is not taken for the one before it. */
  #sequence = randomInt(2 ** 40)
  #askedAt = Number.NEGATIVE_INFINITY
  readonly #listeners = new Set<() => void>()

  constructor(routes: Routes, heldMs: number = limits.heldMs) {
    this.#routes = routes
    this.#heldMs = heldMs
  }

  /** How many requests are held. */
  get size(): number {
    return this.#total
  }

  /** Holds a request for a service that is asleep; the given function lets go of it without an answer. */
  hold({ host, url }: Asked, { route: { service, name } }: Target, held: Held): () => void {
    const others = this.#held.get(service)
    if (this.#total >= limits.heldRequests || (others?.size ?? 0) >= limits.heldPerService) {
      held.fail({
        status: 503,
        message: `${name} is waking up, and too many requests wait for it.`,
        retryAfterSeconds: 5,
      })
      return () => {}
    }
    const entry: Entry = {
      host,
      url,
      service,
      name,
      go: (target) => held.go(target),
      fail: (failure) => held.fail(failure),
      cancelTimer: after(this.#heldMs, () => this.#giveUp(entry)),
    }
    this.#total++
    if (others) others.add(entry)
    else {
      this.#held.set(service, new Set([entry]))
      this.#sequence++
      for (const tell of [...this.#listeners]) tell()
    }
    return () => void this.#drop(entry)
  }

  /** To be called after every new table: lets go on what has an endpoint now, and fails what will not get one. */
  look(): void {
    for (const entries of [...this.#held.values()]) {
      for (const entry of [...entries]) {
        const target = this.#routes.find(entry.host, entry.url)
        const failure = failureOf(target, entry.host)
        // Only the rules of the awaited service let the request through, not those of another.
        const isMoved = target !== undefined && target.route.service !== entry.service
        if (failure && !isMoved && target?.route.asleep) continue
        if (!this.#drop(entry)) continue
        if (isMoved) entry.fail(movedAway(entry.host))
        else if (target && !failure) entry.go(target)
        else entry.fail(failure ?? { status: 503, message: `${entry.name} is not available.` })
      }
    }
  }

  /** Services with held requests: at once when something changed since `sequence`, else as soon as it does, at the latest after `timeoutMs`. */
  wakes(sequence: number, timeoutMs: number, signal: AbortSignal): Promise<Wakes> {
    return new Promise((resolve) => {
      const end = (): void => {
        cancelTimer()
        this.#listeners.delete(end)
        signal.removeEventListener('abort', end)
        this.#askedAt = monotonic()
        resolve({ sequence: this.#sequence, services: [...this.#held.keys()] })
      }
      const cancelTimer = after(timeoutMs, end)
      this.#askedAt = monotonic()
      this.#listeners.add(end)
      signal.addEventListener('abort', end, { once: true })
      if (signal.aborted || (sequence !== this.#sequence && this.#total > 0)) end()
    })
  }

  /** Fails all that waits: the process ends. */
  close(): void {
    for (const entries of [...this.#held.values()]) {
      for (const entry of [...entries]) {
        const message = `${entry.name} is asleep, and the router restarts. Try again.`
        if (this.#drop(entry)) entry.fail({ status: 503, message, retryAfterSeconds: 1 })
      }
    }
  }

  #giveUp(entry: Entry): void {
    if (!this.#drop(entry)) return
    const isAway = this.#listeners.size === 0 && monotonic() - this.#askedAt > limits.awayMs
    const why = isAway
      ? 'could not be woken: the platform is away at the moment'
      : `did not wake up within ${this.#heldMs / 1000} s`
    entry.fail({ status: 503, message: `${entry.name} ${why}.`, retryAfterSeconds: 10 })
  }

  /** False when somebody else was first. */
  #drop(entry: Entry): boolean {
    const entries = this.#held.get(entry.service)
    if (!entries?.delete(entry)) return false
    this.#total--
    if (entries.size === 0) this.#held.delete(entry.service)
    entry.cancelTimer()
    return true
  }
}
