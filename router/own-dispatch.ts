import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { DispatchOptions } from './request-trailers.ts'

/**
 * One request that the router sends without undici. It is the controller of its handler, and calls
 * the handler in the same way: exactly one end, and nothing after it.
 */
export abstract class OwnDispatch<Options extends DispatchOptions = DispatchOptions>
  implements Dispatcher.DispatchController
{
  rawHeaders: string[] | null = null
  rawTrailers: string[] | null = null
  aborted = false
  paused = false
  reason: Error | null = null
  readonly options: Options
  protected readonly handler: Dispatcher.DispatchHandler
  #ended = false

  constructor(options: Options, handler: Dispatcher.DispatchHandler) {
    this.options = options
    this.handler = handler
    // The body may fail before there is a connection.
    if (options.body instanceof Readable) options.body.once('error', (error) => this.abort(error))
  }

  abstract pause(): void
  abstract resume(): void
  /** Ends everything that is open. Without `error`, the response is complete. */
  protected abstract release(error?: Error): void

  protected get hasEnded(): boolean {
    return this.#ended
  }

  /** Reports an error to the handler, unless the response is complete. */
  fail(error: Error): void {
    if (!this.#end(error)) return
    this.handler.onResponseError?.(this, error)
  }

  abort(reason: Error): void {
    if (this.aborted || this.#ended) return
    this.aborted = true
    this.reason = reason
    this.fail(reason)
  }

  /** Tells the handler that the request is being sent. Returns whether it still wants that. */
  protected start(): boolean {
    if (!this.aborted) this.handler.onRequestStart?.(this, {})
    return !this.aborted
  }

  protected begin(status: number, rawHeaders: string[], message = ''): void {
    this.rawHeaders = rawHeaders
    this.guard(() => this.handler.onResponseStart?.(this, status, {}, message))
  }

  protected receive(chunk: Buffer): void {
    this.guard(() => this.handler.onResponseData?.(this, chunk))
  }

  protected finish(rawTrailers: string[] | null): void {
    if (!this.#end()) return
    this.rawTrailers = rawTrailers
    this.guard(() => this.handler.onResponseEnd?.(this, {}))
  }

  /** A handler that throws ends its request, and no other. */
  protected guard(work: () => void): void {
    if (this.aborted) return
    try {
      work()
    } catch (error) {
      this.abort(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #end(error?: Error): boolean {
    if (this.#ended) return false
    this.#ended = true
    this.release(error)
    return true
  }
}
