import { Transform } from 'node:stream'

/** Every so many bytes whoever waits is told. */
const stepBytes = 16 * 1_048_576
/** An archive of tar ends with two empty blocks: one without them was broken off, whatever HTTP says. */
const trailerBytes = 1024

/** Counts an archive that passes through, and sees whether it came to its end. */
export function meterOf(tell: (bytes: number) => void) {
  let bytes = 0
  let told = 0
  let tail: Buffer = Buffer.alloc(0)
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      tail = Buffer.concat([tail, chunk.subarray(-trailerBytes)]).subarray(-trailerBytes)
      if (bytes - told >= stepBytes) {
        told = bytes
        tell(bytes)
      }
      done(null, chunk)
    },
  })
  return {
    stream,
    bytes: () => bytes,
    isWhole: () => tail.length === trailerBytes && tail.every((byte) => byte === 0),
  }
}
