/** The two messages of BuildKit's service for secrets, in protocol buffers, each in one frame of gRPC without compression. */

const prefixBytes = 5
const lengthDelimited = 2

/** A message as it goes over the line: no compression, its length, itself. */
export function frameOf(message: Buffer): Buffer {
  const prefix = Buffer.alloc(prefixBytes)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

/** The name that a question (field 1: ID, field 2: annotations) asks for; undefined for what is no such question. */
export function wantedSecret(frame: Buffer): string | undefined {
  if (frame.length < prefixBytes || frame[0] !== 0) return undefined
  const message = frame.subarray(prefixBytes, prefixBytes + frame.readUInt32BE(1))
  for (let at = 0; at < message.length; ) {
    const key = varint(message, at)
    const length = key && varint(message, key.next)
    // Every field of it is of this wire type.
    if (!length || (key.value & 7) !== lengthDelimited) return undefined
    const end = length.next + length.value
    if (end > message.length) return undefined
    if (key.value >> 3 === 1) return message.toString('utf8', length.next, end)
    at = end
  }
  return undefined
}

/** The answer: field 1, the data. */
export function secretReply(text: string): Buffer {
  const data = Buffer.from(text, 'utf8')
  return Buffer.concat([Buffer.from([(1 << 3) | lengthDelimited]), writeVarint(data.length), data])
}

function varint(bytes: Buffer, from: number): { readonly value: number; readonly next: number } | undefined {
  let value = 0
  // Lengths of what is read here fit into four bytes.
  for (let at = from; at < Math.min(bytes.length, from + 4); at++) {
    const byte = bytes[at] ?? 0
    value |= (byte & 0x7f) << (7 * (at - from))
    if (byte < 0x80) return { value, next: at + 1 }
  }
  return undefined
}

function writeVarint(value: number): Buffer {
  const bytes: number[] = []
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Buffer.from([...bytes, rest])
    bytes.push((rest & 0x7f) | 0x80)
  }
}
