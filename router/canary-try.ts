import type { Canary } from './canaries.ts'
import { monotonic } from './clock.ts'
import { RetriedAnswer } from './deadlines.ts'
import { hasFailedCall, type RawAnswer } from './grpc-failure.ts'

/**
 * One try of a request at a new version that is being tried out. Exactly one of `ended`, `broken`
 * and `failed` counts it. A try that the client ends is not counted.
 */
export class CanaryTry {
  readonly #canary: Canary
  #sentAt = monotonic()
  #answerMs = 0

  constructor(canary: Canary) {
    this.#canary = canary
  }

  /** Notes that a part of the request was sent. Slow clients do not make a response late. */
  sent(): void {
    this.#sentAt = monotonic()
  }

  /** Notes that the response begins. */
  begun(): void {
    this.#answerMs = monotonic() - this.#sentAt
  }

  /** Counts a whole response. A failed call of gRPC has the status 200. */
  ended(status: number, answer: RawAnswer = {}): void {
    this.#canary.record(status >= 500 || (status === 200 && hasFailedCall(answer)), this.#answerMs)
  }

  /** Counts a try without a whole response, or with one that is retried. */
  broken(error: Error): void {
    this.#canary.record(!(error instanceof RetriedAnswer) || error.status >= 500, this.#answerMs)
  }

  /** Counts a try that failed for a reason other than the client. */
  failed(): void {
    this.#canary.record(true, this.#answerMs)
  }
}

/** Begins a try at an endpoint. Undefined if it belongs to no new version. */
export const beginTry = ({ canary }: { readonly canary: Canary | undefined }): CanaryTry | undefined =>
  canary && new CanaryTry(canary)
