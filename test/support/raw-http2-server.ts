import { createServer, type Socket } from 'node:net'
import { block, type Frame, flags, frame, framesOf, preface, types } from './http2-frames.ts'

/** One connection of a client to an application that writes frames by hand. */
export interface RawConnection {
  readonly socket: Socket
  /** How many connections were opened before this one. */
  readonly number: number
  /** The frames that have arrived. */
  readonly frames: readonly Required<Frame>[]
  send(...frames: readonly Frame[]): void
}

/** A request whose headers have arrived. */
export interface RawRequest extends RawConnection {
  readonly stream: number
  /** The path without its padding. */
  readonly path: string
  /** Whether the request has no body. */
  readonly isEnded: boolean
}

export interface RawServer {
  readonly port: number
  /** Each connection so far. */
  readonly connections: readonly RawConnection[]
  /** Each request so far. */
  readonly requests: readonly RawRequest[]
}

interface ServerOptions {
  /** The payload of the first SETTINGS frame. Null: the application never sends a frame. */
  readonly settings?: Buffer | null
  answer(request: RawRequest): void
}

/** Settings that have clients send their headers without a table (RFC 7541, 4.2). */
export const withoutTable = Buffer.from([0, 1, 0, 0, 0, 0])

/**
 * A path that clients send without Huffman coding, because that would be longer: the tilde has a
 * long code (RFC 7541, appendix B). So a server can read it without a decoder.
 */
export const padded = (path: string): string => `${path}${'~'.repeat(path.length)}`

const pathIn = (headers: Buffer): string => /(\/[^~]*)~+/.exec(headers.toString('latin1'))?.[1] ?? ''

type Fields = readonly (readonly [string, string])[]

export const ok = [':status', '200'] as const

export const head = (stream: number, fields: Fields = [ok], set = flags.endHeaders): Frame => ({
  type: types.headers,
  flags: set,
  stream,
  payload: block(fields),
})

export const data = (stream: number, text: string, set = 0): Frame => ({
  type: types.data,
  flags: set,
  stream,
  payload: Buffer.from(text),
})

export const reset = (stream: number, code: number): Frame => ({ type: types.reset, stream, payload: numbers(code) })

/** Announces the end of a connection, and the last stream that was processed. */
export const goaway = (last: number, code: number): Frame => ({ type: types.goaway, payload: numbers(last, code) })

/** Writes numbers with four bytes each. */
export function numbers(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value, 4 * at)
  return bytes
}

/** The frames of a whole response. */
export const response = (stream: number, body: string, fields: Fields = [ok]): readonly Frame[] => [
  head(stream, fields),
  data(stream, body, flags.endStream),
]

/**
 * Starts an application that speaks HTTP/2 without TLS, by frames that the test writes. It
 * acknowledges settings and pings, and ends with the test.
 */
export async function startRawHttp2(
  t: { after(work: () => Promise<void>): void },
  { settings = withoutTable, answer }: ServerOptions,
): Promise<RawServer> {
  const connections: RawConnection[] = []
  const requests: RawRequest[] = []
  const server = createServer((socket) => {
    const connection = receive(socket, {
      number: connections.length,
      isSilent: settings === null,
      answer: (request) => {
        requests.push(request)
        answer(request)
      },
    })
    connections.push(connection)
    if (settings) connection.send({ type: types.settings, payload: settings })
  })
  t.after(async () => {
    server.close()
    for (const { socket } of connections) socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new Error('the server has no port')
  return { port: bound.port, connections, requests }
}

interface Receiving {
  readonly number: number
  readonly isSilent: boolean
  answer(request: RawRequest): void
}

function receive(socket: Socket, { number, isSilent, answer }: Receiving): RawConnection {
  const frames: Required<Frame>[] = []
  const connection: RawConnection = {
    socket,
    number,
    frames,
    send: (...sent) => void (isSilent || socket.destroyed || socket.write(Buffer.concat(sent.map(frame)))),
  }
  let rest = Buffer.alloc(0)
  let isBegun = false
  socket.on('error', () => socket.destroy())
  socket.on('data', (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes])
    if (!isBegun) {
      if (rest.length < preface.length) return
      rest = rest.subarray(preface.length)
      isBegun = true
    }
    const arrived = framesOf(rest)
    rest = rest.subarray(arrived.reduce((sum, { payload }) => sum + 9 + payload.length, 0))
    for (const one of arrived) {
      frames.push(one)
      const { type, stream, payload, flags: set } = one
      if ((type === types.settings || type === types.ping) && (set & flags.ack) === 0)
        connection.send({ type, flags: flags.ack, payload: type === types.ping ? payload : Buffer.alloc(0) })
      if (type !== types.headers) continue
      answer({ ...connection, stream, path: pathIn(payload), isEnded: (set & flags.endStream) !== 0 })
    }
  })
  return connection
}
