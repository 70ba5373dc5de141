import { randomInt } from 'node:crypto'
import { after, monotonic } from './clock.ts'
import { failureOf, movedAway } from './endpoint-failure.ts'
import { limits } from './limits.ts'
import { ownerOf } from './owner.ts'
import type { Failure } from './pages.ts'
import type { Routes } from './routes.ts'
import { SharedPlaces } from './shared-places.ts'
import type { Target } from './target.ts'

/**
 * A request that waits for its service. One of the two is called, unless the client disconnects
 * first.
 */
export interface Held {
  /** Called once the service has an endpoint. */
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
  readonly owner: string
  readonly name: string
  readonly cancelTimer: () => void
}

/** The services with held requests. A changed sequence means that the list has a new service. */
export interface Wakes {
  readonly sequence: number
  readonly services: readonly string[]
}

/**
 * Holds a limited number of requests for sleeping services until a table lists an endpoint for
 * them. Organizations share the places. Bodies are not read meanwhile. The control plane calls
 * `wakes` to learn which services to start. If it is away, the requests time out with a message
 * that says so.
 */
export class Waiting {
  readonly #routes: Routes
  readonly #heldMs: number
  readonly #held = new Map<string, Set<Entry>>()
  readonly #owners = new Map<string, Set<Entry>>()
  readonly #places = new SharedPlaces(limits.heldRequests)
  /** Starts at a random number, so that a new process is not mistaken for the previous one. */
  #sequence = randomInt(2 ** 40)
  #askedAt = Number.NEGATIVE_INFINITY
  readonly #listeners = new Set<() => void>()

  constructor(routes: Routes, heldMs: number = limits.heldMs) {
    this.#routes = routes
    this.#heldMs = heldMs
  }

  /** Returns how many requests are held. */
  get size(): number {
    return this.#places.size
  }

  /** Holds a request for a sleeping service. The returned function drops it without a response. */
  hold({ host, url }: Asked, { route }: Target, held: Held): () => void {
    const { service, name } = route
    const owner = ownerOf(route)
    const others = this.#held.get(service)
    if ((others?.size ?? 0) >= limits.heldPerService || !this.#makeRoom(owner)) {
      held.fail(tooMany(name))
      return () => {}
    }
    const entry: Entry = {
      host,
      url,
      service,
      owner,
      name,
      go: (target) => held.go(target),
      fail: (failure) => held.fail(failure),
      cancelTimer: after(this.#heldMs, () => this.#giveUp(entry)),
    }
    this.#places.take(owner)
    this.#owners.set(owner, (this.#owners.get(owner) ?? new Set()).add(entry))
    if (others) others.add(entry)
    else {
      this.#held.set(service, new Set([entry]))
      this.#sequence++
      for (const tell of [...this.#listeners]) tell()
    }
    return () => void this.#drop(entry)
  }

  /** Whether an owner may have one more. May end the newest request of another owner for it. */
  #makeRoom(owner: string): boolean {
    const { isFree, from } = this.#places.roomFor(owner)
    const newest = from === undefined ? undefined : [...(this.#owners.get(from) ?? [])].at(-1)
    if (newest && this.#drop(newest)) newest.fail(tooMany(newest.name))
    return isFree
  }

  /**
   * Must be called after every new table. Continues the requests whose service has an endpoint, and
   * fails those whose service will not get one.
   */
  look(): void {
    for (const entries of [...this.#held.values()]) {
      for (const entry of [...entries]) {
        const target = this.#routes.find(entry.host, entry.url)
        const failure = failureOf(target, entry.host)
        // The rules of the awaited service accepted the request. Another service has its own rules.
        const isMoved = target !== undefined && target.route.service !== entry.service
        if (failure && !isMoved && target?.route.asleep) continue
        if (!this.#drop(entry)) continue
        if (isMoved) entry.fail(movedAway(entry.host))
        else if (target && !failure) entry.go(target)
        else entry.fail(failure ?? { status: 503, message: `${entry.name} is not available.` })
      }
    }
  }

  /**
   * Returns the services with held requests. Waits until something has changed since `sequence`,
   * for at most `timeoutMs`.
   */
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
      if (signal.aborted || (sequence !== this.#sequence && this.size > 0)) end()
    })
  }

  /** Fails all held requests because the process ends. */
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

  /** Returns false if the request was already dropped. */
  #drop(entry: Entry): boolean {
    const entries = this.#held.get(entry.service)
    if (!entries?.delete(entry)) return false
    this.#places.release(entry.owner)
    const own = this.#owners.get(entry.owner)
    own?.delete(entry)
    if (own?.size === 0) this.#owners.delete(entry.owner)
    if (entries.size === 0) this.#held.delete(entry.service)
    entry.cancelTimer()
    return true
  }
}

const tooMany = (name: string): Failure => ({
  status: 503,
  message: `${name} is waking up, and too many requests wait for it.`,
  retryAfterSeconds: 5,
})
