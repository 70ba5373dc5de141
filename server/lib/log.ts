import { writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino'
import { textLine } from './log-text.ts'

export type { Logger }

export type LogFormat = 'json' | 'text'

/**
 * Text for people on a terminal; JSON for everything that collects logs, such as the systemd
 * journal.
 */
export const usualFormat = (isTerminal = isatty(2)): LogFormat => (isTerminal ? 'text' : 'json')

/**
 * The one structured logger, with secrets and credentials redacted. It writes to standard error.
 */
export function createLogger(level: string, format: LogFormat = usualFormat()): Logger {
  const stream = perTurn(dropping((bytes) => writeSync(2, bytes)))
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: stdSerializers.errWithCause },
      redact: {
        paths: [
          '*.authorization',
          '*.token',
          '*.secret',
          '*.password',
          'authorization',
          'token',
          'secret',
          'password',
          '*.target_secret',
        ],
        censor: '[secret]',
      },
    },
    format === 'json' ? stream : { write: (line) => stream.write(textLine(line)) },
  )
}

/**
 * Writes all lines of one turn of the event loop together: a system call costs more than formatting
 * a line.
 */
export function perTurn(write: (text: string) => void): DestinationStream {
  let lines = ''
  const flush = (): void => {
    const text = lines
    lines = ''
    if (text !== '') write(text)
  }
  process.on('exit', flush)
  return {
    write: (line) => {
      if (lines === '') setImmediate(flush)
      lines += line
    },
  }
}

const lineFeed = 0x0a

/**
 * Writes whole lines, also to a pipe with a slow reader. Lines that cannot be written are dropped:
 * a missing reader or a full disk must not end the process. After a line that was cut off, the next
 * one begins on a new line.
 */
export function dropping(write: (bytes: Buffer) => number): (text: string) => void {
  let isTorn = false
  return (text) => {
    let bytes = Buffer.from(isTorn ? `\n${text}` : text)
    while (bytes.length > 0) {
      try {
        const written = write(bytes)
        isTorn = bytes[written - 1] !== lineFeed
        bytes = bytes.subarray(written)
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? error.code : undefined
        if (code !== 'EAGAIN') return
        Atomics.wait(pause, 0, 0, 1)
      }
    }
  }
}
const pause = new Int32Array(new SharedArrayBuffer(4))

export const silentLogger: Logger = pino({ level: 'silent' })
