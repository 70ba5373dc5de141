import type { Readable, Writable } from 'node:stream'

interface Sending {
  /** Called with each chunk before it is written. */
  readonly sent: (chunk: Buffer) => void
  /** Called once the whole body is written. */
  readonly end: () => void
}

/** Writes a body as fast as `sink` accepts it. Stops reading once `sink` is closed. */
export function sendBody(body: Readable, sink: Pick<Writable, 'write' | 'on' | 'once'>, { sent, end }: Sending): void {
  const pass = (chunk: Buffer): void => {
    sent(chunk)
    if (!sink.write(chunk)) body.pause()
  }
  body.on('data', pass).once('end', end)
  sink.on('drain', () => void body.resume())
  sink.once('close', () => body.off('data', pass).off('end', end).pause())
}
