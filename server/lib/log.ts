import { writeSync } from 'node:fs'
import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino'

export type { Logger }

/** The one structured logger: JSON lines on standard error, secrets and credentials redacted. */
export function createLogger(level: string): Logger {
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
    perTurn((text) => writeAll(2, text)),
  )
}

/** Writes the lines of one turn of the event loop at once: a system call costs more than making a line. */
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

/** Also to a pipe whose reader is slow. */
function writeAll(fd: number, text: string): void {
  let bytes = Buffer.from(text)
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(fd, bytes))
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      // Nobody reads any more: that is no reason to end.
      if (code === 'EPIPE') return
      if (code !== 'EAGAIN') throw error
      Atomics.wait(pause, 0, 0, 1)
    }
  }
}
const pause = new Int32Array(new SharedArrayBuffer(4))

export const silentLogger: Logger = pino({ level: 'silent' })
