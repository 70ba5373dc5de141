import { randomUUID } from 'node:crypto'
import type { CanaryCount } from '@quayside/contract/canary-counts.ts'
import type { RouteTable } from '@quayside/contract/routes.ts'
import { RetriedAnswer } from './deadlines.ts'
import { hasFailedCall, type RawAnswer } from './grpc-failure.ts'

/**
 * A new version that is being tried out: the turns of its requests, and how they ended. One object
 * for all routes of its service, so that its numbers survive a new table.
 */
export class Canary {
  readonly service: string
  readonly release: string
  requests = 0
  failed = 0
  #percent: number
  /** Hundredths of a request that are due to the new version. */
  #due = 50

  constructor(service: string, release: string, percent: number) {
    this.service = service
    this.release = release
    this.#percent = percent
  }

  set percent(percent: number) {
    this.#percent = percent
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

  /** Counts one request that the new version answered or failed to answer. */
  record(hasFailed: boolean): void {
    this.requests++
    if (hasFailed) this.failed++
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
      const { release, percent } = canary
      const known = this.#known.get(service)
      const one = known?.release === release ? known : (next.get(service) ?? new Canary(service, release, percent))
      one.percent = percent
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
    return [...this.#known.values()].map(({ service, release, requests, failed }) => ({
      source: this.#source,
      service,
      release,
      requests,
      failed,
    }))
  }
}

/** Counts a try at an endpoint by its status, if the endpoint belongs to a new version. */
export const recordStatus = (canary: Canary | undefined, status: number): void => canary?.record(status >= 500)

/** Counts a whole response of a new version. A failed call of gRPC has a status 200. */
export const recordAnswer = (canary: Canary | undefined, status: number, answer: RawAnswer): void =>
  canary?.record(status >= 500 || (status === 200 && hasFailedCall(answer)))

/** Counts a try at a new version that ended without an answer, or with one that is retried. */
export const recordBroken = (canary: Canary, error: Error): void =>
  canary.record(!(error instanceof RetriedAnswer) || error.status >= 500)
