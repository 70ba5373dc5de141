import { type Readable, Transform } from 'node:stream'
import { after } from './clock.ts'

/** A time limit of the route's rules is over. The code names the limit. */
export class DeadlineOver extends Error {
  override readonly name = 'DeadlineOver'
  readonly code: 'SEND_TIMEOUT' | 'TRY_TIMEOUT' | 'REQUEST_TIMEOUT' | 'CLIENT_TIMEOUT'

  constructor(code: DeadlineOver['code'], ms: number) {
    super(`over after ${ms} ms`)
    this.code = code
  }
}

/** An answer of a status that the route's rules have tried again. */
export class RetriedAnswer extends Error {
  override readonly name = 'RetriedAnswer'
  readonly status: number

  constructor(status: number) {
    super(`an answer with status ${status}`)
    this.status = status
  }
}

/**
 * Returns the same bytes, or an error once the reader has taken none of them for this long although some are waiting. The time is checked
 * in halves, so a stall is seen within one and a half times the limit.
 */
export function pacedBody(body: Readable, limitMs: number): Readable {
  let [received, takenBefore, stalls] = [0, 0, 0]
  const paced = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length
      done(null, chunk)
    },
  })
  let cancel = (): void => {}
  const watch = (): void => {
    cancel = after(limitMs / 2, () => {
      const taken = received - paced.readableLength
      stalls = paced.readableLength > 0 && taken === takenBefore ? stalls + 1 : 0
      takenBefore = taken
      if (stalls > 1) paced.destroy(new DeadlineOver('SEND_TIMEOUT', limitMs))
      else watch()
    })
  }
  watch()
  paced.once('close', () => cancel())
  body.once('error', (error) => paced.destroy(error))
  return body.pipe(paced)
}
