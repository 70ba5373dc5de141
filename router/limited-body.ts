import { type Readable, Transform } from 'node:stream'

/** The error that ends a body larger than its limit. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge'
}

/**
 * Passes a body through, and fails once it exceeds `maxBytes`. For bodies without a declared
 * length.
 */
export function limitedBody(body: Readable, maxBytes: number): Readable {
  let bytes = 0
  const limited = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > maxBytes) done(new BodyTooLarge(`more than ${maxBytes} bytes`))
      else done(null, chunk)
    },
  })
  body.once('error', (error) => limited.destroy(error))
  return body.pipe(limited)
}
