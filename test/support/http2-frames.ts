/** Writes frames of HTTP/2 by hand, so that tests can send what no library sends (RFC 9113). */

export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

export const types = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goaway: 7, window: 8, continuation: 9 }
export const flags = { endStream: 1, ack: 1, endHeaders: 4 }

export interface Frame {
  readonly type: number
  readonly flags?: number
  readonly stream?: number
  readonly payload?: Buffer
}

export function frame({ type, flags: set = 0, stream = 0, payload = Buffer.alloc(0) }: Frame): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(set, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** A header block whose fields are literals, without Huffman coding (RFC 7541, 6.2). */
export const block = (fields: readonly (readonly [string, string])[], first = 0): Buffer =>
  Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([first]), literal(name), literal(value)]))

function literal(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1')
  return Buffer.concat([integer(bytes.length), bytes])
}

/** An integer with a prefix of seven bits (RFC 7541, 5.1). */
function integer(value: number): Buffer {
  if (value < 127) return Buffer.from([value])
  const bytes = [127]
  let rest = value - 127
  for (; rest > 127; rest >>= 7) bytes.push((rest & 127) | 128)
  return Buffer.from([...bytes, rest])
}

/** Reads the whole frames at the beginning of some bytes. */
export function framesOf(bytes: Buffer): Required<Frame>[] {
  const frames: Required<Frame>[] = []
  for (let at = 0; at + 9 <= bytes.length; ) {
    const end = at + 9 + bytes.readUIntBE(at, 3)
    if (end > bytes.length) break
    const [type, set, stream] = [bytes.readUInt8(at + 3), bytes.readUInt8(at + 4), bytes.readUInt32BE(at + 5)]
    frames.push({ type, flags: set, stream, payload: bytes.subarray(at + 9, end) })
    at = end
  }
  return frames
}
