/**
 * BuildKit reports its progress as `StatusResponse` messages of protocol buffers, base64 inside JSON. Only the few fields that
 * a log needs are read, so a reader of the wire format does; it skips what it does not know.
 */
export interface BuildStatus {
  readonly vertices: readonly Vertex[]
  readonly logs: readonly VertexLog[]
}

/** One step of the build, reported again whenever something about it changes. */
export interface Vertex {
  readonly digest: string
  readonly name: string
  readonly cached: boolean
  readonly started: boolean
  readonly completed: boolean
  readonly error: string
}

export interface VertexLog {
  readonly vertex: string
  /** 1 is standard output, 2 standard error. */
  readonly stream: number
  readonly text: Buffer
}

type Field = { readonly number: number; readonly value: number | Buffer }

/** Throws RangeError for bytes that are no such message. */
export function decodeStatus(base64: string): BuildStatus {
  const vertices: Vertex[] = []
  const logs: VertexLog[] = []
  for (const { number, value } of fields(Buffer.from(base64, 'base64'))) {
    if (typeof value === 'number') continue
    if (number === 1) vertices.push(decodeVertex(value))
    if (number === 3) logs.push(decodeLog(value))
  }
  return { vertices, logs }
}

function decodeVertex(bytes: Buffer): Vertex {
  const byNumber = new Map(Array.from(fields(bytes), ({ number, value }) => [number, value]))
  return {
    digest: text(byNumber.get(1)),
    name: text(byNumber.get(3)),
    cached: byNumber.get(4) === 1,
    started: byNumber.has(5),
    completed: byNumber.has(6),
    error: text(byNumber.get(7)),
  }
}

function decodeLog(bytes: Buffer): VertexLog {
  const byNumber = new Map(Array.from(fields(bytes), ({ number, value }) => [number, value]))
  const stream = byNumber.get(3)
  const message = byNumber.get(4)
  return {
    vertex: text(byNumber.get(1)),
    stream: typeof stream === 'number' ? stream : 1,
    text: Buffer.isBuffer(message) ? message : Buffer.alloc(0),
  }
}

const text = (value: number | Buffer | undefined): string => (Buffer.isBuffer(value) ? value.toString('utf8') : '')

/** Field by field: a key (number and type), then a varint, four or eight bytes, or a length and that many bytes. */
function* fields(bytes: Buffer): Generator<Field> {
  let at = 0
  const varint = (): number => {
    let result = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes.readUInt8(at++)
      result += (byte & 0x7f) * factor
      if (byte < 0x80) return result
    }
  }
  const slice = (length: number): Buffer => {
    if (at + length > bytes.length) throw new RangeError('message ends inside a field')
    at += length
    return bytes.subarray(at - length, at)
  }
  while (at < bytes.length) {
    const key = varint()
    const number = Math.floor(key / 8)
    const type = key % 8
    if (type === 0) yield { number, value: varint() }
    else if (type === 1) yield { number, value: slice(8) }
    else if (type === 2) yield { number, value: slice(varint()) }
    else if (type === 5) yield { number, value: slice(4) }
    else throw new RangeError(`unknown wire type ${type}`)
  }
}
