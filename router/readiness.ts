import { createServer, type Server } from 'node:http'
import { monotonic } from './clock.ts'
import { limits } from './limits.ts'

export interface ReadinessOptions {
  /** Whether the router has a table that the control plane kept. */
  readonly hasStored: () => boolean
  /** Whether hosts of the table need certificates that the router does not have yet. */
  readonly lacksCertificates?: () => boolean
  /** How long a router with a stored table waits for the control plane. */
  readonly waitMs?: number
}

/**
 * Decides whether a router in a pod may get requests. It needs the table of the control plane. If
 * that is away, the table with which the router started is the newest one. A router without the
 * certificates of its hosts would refuse handshakes that others complete.
 */
export class Readiness {
  readonly #startedAt = monotonic()
  readonly #options: ReadinessOptions
  #isConfirmed = false

  constructor(options: ReadinessOptions) {
    this.#options = options
  }

  /** Must be called when the control plane has sent its table. */
  confirm(): void {
    this.#isConfirmed = true
  }

  /** Whether the control plane has sent its table. */
  get isConfirmed(): boolean {
    return this.#isConfirmed
  }

  get isReady(): boolean {
    const { hasStored, lacksCertificates = () => false, waitMs = limits.unconfirmedMs } = this.#options
    const hasTable = this.#isConfirmed || (hasStored() && monotonic() - this.#startedAt >= waitMs)
    return hasTable && !lacksCertificates()
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
