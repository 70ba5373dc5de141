import { createServer, type Server } from 'node:http'
import { monotonic } from './clock.ts'
import { limits } from './limits.ts'

/**
 * Decides whether a router in a pod may get requests. It needs the table of the control plane. If
 * that is away, the table with which the router started is the newest one.
 */
export class Readiness {
  readonly #startedAt = monotonic()
  readonly #hasStored: boolean
  readonly #waitMs: number
  #isConfirmed = false

  constructor(hasStored: boolean, waitMs: number = limits.unconfirmedMs) {
    this.#hasStored = hasStored
    this.#waitMs = waitMs
  }

  /** Must be called when the control plane has sent its table. */
  confirm(): void {
    this.#isConfirmed = true
  }

  get isReady(): boolean {
    return this.#isConfirmed || (this.#hasStored && monotonic() - this.#startedAt >= this.#waitMs)
  }
}

/**
 * Creates the server for the probes of a cluster. It is not yet listening. `/ready` says whether
 * the router may get requests. Every other path answers while the process does.
 */
export const createReadyServer = (readiness: Pick<Readiness, 'isReady'>): Server =>
  createServer((request, response) => {
    response.statusCode = request.url !== '/ready' || readiness.isReady ? 200 : 503
    response.end()
  })
