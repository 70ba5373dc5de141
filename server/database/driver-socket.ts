import { Socket } from 'node:net'

/** Where a connection goes; the driver's parsed options. */
export interface Target {
  readonly path: string | false | undefined
  readonly host: readonly string[]
  readonly port: readonly number[]
}

/** Errors with which connections to the database ended. The driver hands some of them on as they are: to whoever waits for a `begin`. */
const lost = new WeakSet<Error>()

/** Whether a connection to the database ended with this very error. */
export const endedConnection = (error: Error): boolean => lost.has(error)

/**
 * The socket under one database connection, which spares the driver (3.4.9) what it gets wrong. It loses queries that it is handed
 * between a socket's `error` and its `close`: both come as one here. It tries for ever where the other side closes before it said
 * anything: a close without a word is an error. It answers the first query of the next connection with the farewell of the last
 * one: PostgreSQL's last message becomes the socket's error.
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
 * The error with which PostgreSQL ends a connection, where the chunk ends with that message; it may begin in the middle of another one. A
 * message is a letter, its length without the letter, and its body; an error's (`E`) body are fields of a letter and a text, of which V is
 * the severity, C the code and M the text for people. Values in rows cannot be taken for it: none has a byte 0.
 */
export function findFarewell(chunk: Buffer): { before: Buffer; error: Error } | undefined {
  const severity = Math.max(chunk.lastIndexOf('VFATAL\0'), chunk.lastIndexOf('VPANIC\0'))
  let start = severity - firstFieldBytes
  // Before it stands the same in the language of the server.
  const earliest = Math.max(0, start - longestSeverityBytes)
  while (start >= earliest && !isLastMessage(chunk, start)) start--
  if (start < earliest) return undefined
  const fields = chunk.toString('utf8', start + 5).split('\0')
  const field = (letter: string): string | undefined => fields.find((text) => text.startsWith(letter))?.slice(1)
  if (!['FATAL', 'PANIC'].includes(field('V') ?? '')) return undefined
  return { before: chunk.subarray(0, start), error: Object.assign(new Error(field('M')), { code: field('C') }) }
}

/** The letter of the message, its length, and at least the letter and the end of the field before. */
const firstFieldBytes = 7
const longestSeverityBytes = 64

/** Whether an error begins there and the chunk ends with it. */
const isLastMessage = (chunk: Buffer, start: number): boolean =>
  chunk[start] === 0x45 && start + 1 + chunk.readUInt32BE(start + 1) === chunk.length

const closedSilently = (): Error =>
  Object.assign(new Error('the database closed the connection before it answered'), { code: 'ECONNRESET' })

/** A socket that is about to be connected; what is written to it waits. */
export function connectSocket(target: Target): Socket {
  const [host] = target.host
  const socket = new DriverSocket(target.path ? undefined : host)
  // not before the driver listens to its events
  setImmediate(() => {
    if (socket.destroyed) return
    if (target.path) socket.connect({ path: target.path })
    else socket.connect({ host: host ?? 'localhost', port: target.port[0] ?? 5432 })
  })
  return socket
}
