import { connect, type Socket } from 'node:net'
import { after } from '../clock.ts'
import { type CarriedLine, parseLine, ring } from './times.ts'

/** How long the reader waits before it connects again. */
const againMs = 250
/**
 * How long lines are collected before they are read. Reading each one as it comes would take a
 * fiftieth of a core at 200 lines a second.
 */
const collectMs = 100
/** After so many characters at once, more are read immediately. */
const manyChars = 32_768
/** A longer line is not one of ours. */
const mostChars = 4_096

/** Reads the times of carried requests from HAProxy ten times a second, across its restarts. */
export class TimeLines {
  readonly #admin: string
  readonly #note: (line: CarriedLine) => void
  #socket: Socket | undefined
  /** Cancels the next start or the next reading. */
  #cancel = (): void => {}
  #isStopped = false
  /** Whether HAProxy may have lines that another router has read. */
  #isAdopted = true

  /** `admin` is the path of HAProxy's socket. `note` is called for each line. */
  constructor(admin: string, note: (line: CarriedLine) => void) {
    this.#admin = admin
    this.#note = note
  }

  /**
   * Begins to read. Lines of an HAProxy that runs already are skipped: another router may have read
   * them. One that starts later has none before this router leaves the ports to it.
   */
  start(): void {
    if (this.#isStopped || this.#socket) return
    const socket = connect({ path: this.#admin })
    this.#socket = socket
    let rest = ''
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => {
      const lines = `${rest}${chunk}`.split('\n')
      rest = (lines.pop() ?? '').slice(0, mostChars)
      for (const line of lines) {
        const read = parseLine(line)
        if (read) this.#note(read)
      }
      if (chunk.length > manyChars) return
      socket.pause()
      this.#cancel = after(collectMs, () => socket.resume())
    })
    // `close` follows. Another HAProxy may listen there soon.
    socket.on('error', () => {})
    socket.once('close', () => {
      this.#socket = undefined
      this.#isAdopted = false
      if (!this.#isStopped) this.#cancel = after(againMs, () => this.start())
    })
    socket.unref()
    socket.write(`show events ${ring} -w${this.#isAdopted ? ' -n' : ''}\n`)
  }

  /** Ends the connection. No line is noted any more. */
  stop(): void {
    this.#isStopped = true
    this.#cancel()
    this.#socket?.destroy()
  }
}
