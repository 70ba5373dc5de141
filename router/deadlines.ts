import type { Readable } from 'node:stream'
import { after } from './clock.ts'

/** A time limit of the route's rules has passed. The code names the limit. */
export class DeadlineOver extends Error {
  override readonly name = 'DeadlineOver'
  readonly code: 'SEND_TIMEOUT' | 'TRY_TIMEOUT' | 'REQUEST_TIMEOUT' | 'CLIENT_TIMEOUT'

  constructor(code: DeadlineOver['code'], ms: number) {
    super(`timed out after ${ms} ms`)
    this.code = code
  }
}

/** A response whose status the route's rules retry. */
export class RetriedAnswer extends Error {
  override readonly name = 'RetriedAnswer'
  readonly status: number

  constructor(status: number) {
    super(`a response with status ${status}`)
    this.status = status
  }
}

/** The body of a request on its way to an endpoint. */
interface Sending {
  readonly body: Readable
  /** Returns the number of bytes that the endpoint has accepted so far. */
  readonly accepted: () => number
  readonly limitMs: number
}

/**
 * Calls `over` once the endpoint has accepted no bytes for this long although some are waiting. The
 * time is checked in halves, so a stall is noticed within one and a half times the limit. The
 * returned function cancels the watch.
 */
export function watchSending({ body, accepted, limitMs }: Sending, over: () => void): () => void {
  let [acceptedBefore, stalls] = [0, 0]
  let cancel = (): void => {}
  const watch = (): void => {
    cancel = after(limitMs / 2, () => {
      const isStalled = body.readableLength > 0 && accepted() === acceptedBefore
      stalls = isStalled ? stalls + 1 : 0
      acceptedBefore = accepted()
      if (stalls > 1) over()
      else if (!body.readableEnded) watch()
    })
  }
  watch()
  return () => cancel()
}
