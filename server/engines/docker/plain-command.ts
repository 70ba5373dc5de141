import { Duplex, Readable, Writable } from 'node:stream'
import { frames } from './frames.ts'

/** A single write of this byte alone ends the command's input. */
const endOfInput = 0x04

/**
 * A command without a terminal. Input bytes are passed unchanged. Output and errors are merged into
 * one stream. A single write of byte 04 ends the input.
 */
export function plainCommand(connection: Duplex): Duplex {
  const input = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      if (connection.writableEnded) return done()
      if (chunk.length !== 1 || chunk[0] !== endOfInput) return void connection.write(chunk, () => done())
      connection.end()
      done()
    },
  })
  const stream = Duplex.from({ writable: input, readable: Readable.from(printed(connection), { objectMode: false }) })
  stream.once('close', () => connection.destroy())
  return stream
}

async function* printed(connection: Duplex): AsyncGenerator<Buffer> {
  for await (const { payload } of frames(connection)) if (payload.length > 0) yield payload
}
