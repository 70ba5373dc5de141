import { randomUUID } from 'node:crypto'
import type { CanaryCount } from '@quayside/contract/canary-counts.ts'
import type { RouteCanary, RouteTable } from '@quayside/contract/routes.ts'

type Tuning = Pick<RouteCanary, 'percent' | 'slowMs'>

/**
 * A new version that is being tried out: the turns of its requests, and how they ended. One object
 * for all routes of its service, so that its numbers survive a new table.
 */
export class Canary {
  readonly service: string
  readonly release: string
  requests = 0
  failed = 0
  slow = 0
  #percent = 0
  #slowMs = Number.POSITIVE_INFINITY
  /** Hundredths of a request that are due to the new version. */
  #due = 50

  constructor(service: string, release: string, tuning: Tuning) {
    this.service = service
    this.release = release
    this.tune(tuning)
  }

  tune({ percent, slowMs }: Tuning): void {
    this.#percent = percent
    this.#slowMs = slowMs ?? Number.POSITIVE_INFINITY
  }

  /**
   * Returns whether the next request goes to the new version. The turns are spread evenly: of any
   * 100 requests in a row, it gets exactly its share.
   */
  takesNext(): boolean {
    this.#due += this.#percent
    if (this.#due < 100) return false
    this.#due -= 100
    return true
  }

  /**
   * Counts one request that the new version answered or failed to answer, and the time until its
   * response began.
   */
  record(hasFailed: boolean, answerMs: number): void {
    this.requests++
    if (hasFailed) this.failed++
    else if (answerMs > this.#slowMs) this.slow++
  }
}

/** The new versions of the current table. */
export class Canaries {
  readonly #source = randomUUID()
  #known = new Map<string, Canary>()

  /** Follows a table. A version that it no longer has is forgotten. */
  follow({ routes }: RouteTable): void {
    const next = new Map<string, Canary>()
    for (const { service, canary } of routes) {
      if (!canary) continue
      const { release } = canary
      const known = this.#known.get(service)
      const one = known?.release === release ? known : (next.get(service) ?? new Canary(service, release, canary))
      one.tune(canary)
      next.set(service, one)
    }
    this.#known = next
  }

  /** Returns the new version of a service. */
  of(service: string): Canary | undefined {
    return this.#known.get(service)
  }

  /** Returns the numbers of every version since this process knows it. */
  counts(): readonly CanaryCount[] {
    return [...this.#known.values()].map(({ service, release, requests, failed, slow }) => ({
      source: this.#source,
      service,
      release,
      requests,
      failed,
      slow,
    }))
  }
}
