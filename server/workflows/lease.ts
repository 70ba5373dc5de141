import { CanceledError, LeaseLostError } from './workflow.ts'

/**
 * One process's right to run one workflow. Three signals report its end, each included in the next:
 * `lost` (another process may own the workflow, so nothing can be written any more), `life` (lost,
 * or this process is stopping: nothing new begins, but ended steps are still recorded), `work`
 * (life, or the workflow was cancelled).
 */
export class Lease {
  readonly id: string
  readonly fence: string
  readonly begunAt: number
  readonly lost: AbortSignal
  readonly life: AbortSignal
  readonly work: AbortSignal
  readonly #loss = new AbortController()
  readonly #stop = new AbortController()
  readonly #cancel = new AbortController()
  #validUntil: number

  /**
   * `validUntil`: monotonic milliseconds until which the lease is safe without a renewal;
   * `begunAt`: the time of the claim.
   */
  constructor(id: string, fence: string, validUntil: number, begunAt = 0) {
    this.id = id
    this.fence = fence
    this.begunAt = begunAt
    this.#validUntil = validUntil
    this.lost = this.#loss.signal
    this.life = AbortSignal.any([this.lost, this.#stop.signal])
    this.work = AbortSignal.any([this.life, this.#cancel.signal])
  }

  get isCanceled(): boolean {
    return this.#cancel.signal.aborted
  }

  /** Answers may arrive in another order than their requests. */
  renew(validUntil: number): void {
    this.#validUntil = Math.max(this.#validUntil, validUntil)
  }

  /**
   * Releases the lease before the database could give the workflow to another process. Returns true
   * if this call released it.
   */
  expire(now: number): boolean {
    if (now < this.#validUntil || this.lost.aborted) return false
    this.lose('its lease could not be renewed in time')
    return true
  }

  lose(why: string): LeaseLostError {
    const error = new LeaseLostError(`workflow ${this.id} is no longer run by this process: ${why}`)
    this.#loss.abort(error)
    return error
  }

  stop(): void {
    this.#stop.abort(new LeaseLostError(`workflow ${this.id} continues elsewhere: this process stops`))
  }

  cancel(): void {
    this.#cancel.abort(new CanceledError('canceled'))
  }
}
