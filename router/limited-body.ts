import { type Readable, Transform } from 'node:stream'

/** What breaks off a body that turned out to be too large. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge'
}

/** The same bytes, or an error once there are more than so many: of bodies that do not tell their length before. */
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
