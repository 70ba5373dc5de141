import { monotonic } from './clock.ts'
import type { ServiceCounts } from './service-counts.ts'

/** Counts how a request for an upgrade ended, once, and its time since it arrived. */
export class UpgradeOutcome {
  readonly #services: ServiceCounts
  readonly #service: string | undefined
  readonly #startedAt = monotonic()
  #isCounted = false

  /** Without a service nothing is counted. */
  constructor(services: ServiceCounts, service: string | undefined) {
    this.#services = services
    this.#service = service
  }

  /** Counts an answer of the endpoint. */
  answered(status: number): void {
    // The time of a conversation is not one of an answer.
    this.#count((service) => this.#services.recordRequest(service, status, 0, 0, this.#elapsedMs, -1))
  }

  /** Counts a page of the router. */
  own(status: number): void {
    this.#count((service) => this.#services.recordOwn(service, status, this.#elapsedMs))
  }

  /** Counts a client that has left, unless it had an answer. */
  left(): void {
    this.own(499)
  }

  get #elapsedMs(): number {
    return monotonic() - this.#startedAt
  }

  #count(record: (service: string) => void): void {
    if (this.#isCounted || this.#service === undefined) return
    this.#isCounted = true
    record(this.#service)
  }
}
