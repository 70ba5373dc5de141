import type { RequestLine } from './access-lines.ts'
import { monotonic } from './clock.ts'
import { addBytes, type Counter, headBytes, type ServiceCounts } from './service-counts.ts'

/** The bytes, the status and the times of one request, as its service counts them. */
export class ExchangeRecord {
  readonly startedAt = monotonic()
  /** The status of the response. 0 before it begins. */
  status = 0
  readonly #services: ServiceCounts
  readonly #service: string | undefined
  readonly #counter: Counter | undefined
  readonly #line: RequestLine | undefined
  #firstByteMs = -1

  /** Without a service nothing is counted. `line` is undefined if the service wants no lines. */
  constructor(services: ServiceCounts, service: string | undefined, line: RequestLine | undefined) {
    this.#services = services
    this.#service = service
    this.#counter = service === undefined ? undefined : services.of(service)
    this.#line = line
  }

  /** The time since the request arrived. */
  get elapsedMs(): number {
    return monotonic() - this.startedAt
  }

  /** Counts bytes that the endpoint gets. */
  addSent(bytes: number): void {
    if (this.#counter) addBytes(this.#counter, bytes, 0)
  }

  /** Records the head of the response that the client gets. */
  begin(status: number, rawHeaders: Parameters<typeof headBytes>[0]): void {
    if (this.#counter) addBytes(this.#counter, 0, headBytes(rawHeaders))
    this.status = status
    this.#firstByteMs = this.elapsedMs
  }

  /** Counts bytes of the response's body. */
  addReceived(bytes: number): void {
    if (this.#counter) addBytes(this.#counter, 0, bytes)
    if (this.#line) this.#line.bytes += bytes
  }

  /** Counts the request. A client that left before the response counts as one with status 499. */
  end(isWhole: boolean): void {
    if (this.#service === undefined) return
    if (isWhole) {
      this.#services.recordRequest(this.#service, this.status, 0, 0, this.#firstByteMs, this.elapsedMs)
    } else this.#services.recordOwn(this.#service, this.status || 499, this.elapsedMs)
  }
}
