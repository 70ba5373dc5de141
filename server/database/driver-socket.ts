import { Socket } from 'node:net'

/** The address of a connection: the driver's parsed options. */
export interface Target {
  readonly path: string | false | undefined
  readonly host: readonly string[]
  readonly port: readonly number[]
}

/**
 * Errors that ended connections to the database. The driver passes some of them unchanged to
 * callers that wait for a `begin`.
 */
const lost = new WeakSet<Error>()

/** Whether exactly this error ended a connection to the database. */
export const endedConnection = (error: Error): boolean => lost.has(error)

/**
 * The socket of one database connection. It works around three bugs of the driver (3.4.9). The
 * driver loses queries that it receives between a socket's `error` and its `close`: this socket
 * emits both together. It retries forever if the server closes a connection before it answers: here
 * that is an error. It answers the first query of the next connection with the last error of the
 * previous one: here PostgreSQL's last message becomes the socket's error.
 */
class DriverSocket extends Socket {
  /** The driver checks a TLS certificate against this name. */
  readonly host: string | undefined
  #error: Error | undefined
  #answered = false

  constructor(host: string | undefined) {
    super()
    this.host = host
  }

  override emit(event: string | symbol, ...args: unknown[]): boolean {
    if (event === 'data') {
      this.#answered = true
      const chunk = args[0]
      const farewell = Buffer.isBuffer(chunk) ? findFarewell(chunk) : undefined
      if (farewell) {
        if (farewell.before.length > 0) super.emit('data', farewell.before)
        this.destroy(farewell.error)
        return true
      }
    }
    if (event === 'error' && args[0] instanceof Error) {
      this.#error = args[0]
      return true
    }
    if (event !== 'close') return super.emit(event, ...args)
    const error = this.#error ?? (this.#answered ? undefined : closedSilently())
    if (error) lost.add(error)
    if (error && this.listenerCount('error') > 0) super.emit('error', error)
    return super.emit('close', error !== undefined)
  }
}

/**
 * Returns the error with which PostgreSQL ends a connection, if the chunk ends with that message.
 * The chunk may begin in the middle of another message. A message is a letter, its length without
 * the letter, and its body. The body of an error (`E`) has fields of a letter and a text: V is the
 * severity, C the code and M the readable text. Values of rows cannot be mistaken for it, because
 * they contain no byte 0.
 */
export function findFarewell(chunk: Buffer): { before: Buffer; error: Error } | undefined {
  const severity = Math.max(chunk.lastIndexOf('VFATAL\0'), chunk.lastIndexOf('VPANIC\0'))
  let start = severity - firstFieldBytes
  // The same severity in the server's language comes before it.
  const earliest = Math.max(0, start - longestSeverityBytes)
  while (start >= earliest && !isLastMessage(chunk, start)) start--
  if (start < earliest) return undefined
  const fields = chunk.toString('utf8', start + 5).split('\0')
  const field = (letter: string): string | undefined => fields.find((text) => text.startsWith(letter))?.slice(1)
  if (!['FATAL', 'PANIC'].includes(field('V') ?? '')) return undefined
  return { before: chunk.subarray(0, start), error: Object.assign(new Error(field('M')), { code: field('C') }) }
}

/**
 * The letter of the message, its length, and at least the letter and the end of the previous field.
 */
const firstFieldBytes = 7
const longestSeverityBytes = 64

/** Whether an error begins at this position and the chunk ends with it. */
const isLastMessage = (chunk: Buffer, start: number): boolean =>
  chunk[start] === 0x45 && start + 1 + chunk.readUInt32BE(start + 1) === chunk.length

const closedSilently = (): Error =>
  Object.assign(new Error('the database closed the connection before it answered'), { code: 'ECONNRESET' })

/** A socket that is about to be connected. Written data waits. */
export function connectSocket(target: Target): Socket {
  const [host] = target.host
  const socket = new DriverSocket(target.path ? undefined : host)
  // Only after the driver listens to its events.
  setImmediate(() => {
    if (socket.destroyed) return
    if (target.path) socket.connect({ path: target.path })
    else socket.connect({ host: host ?? 'localhost', port: target.port[0] ?? 5432 })
  })
  return socket
}
