import { Duplex } from 'node:stream'
import type { ShellWish, Terminal } from '../engine.ts'

/**
 * Without a terminal: echoes its input byte by byte until a lone byte 04, and exits with code 3.
 */
function fakeCommand(signal: AbortSignal): Terminal {
  const stream = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      stream.push(chunk.length === 1 && chunk[0] === 4 ? null : chunk)
      done()
    },
  })
  endWith(stream, signal)
  return { stream, resize: async () => {}, exitCode: async () => 3 }
}

/**
 * Prints its size at the start and whenever it changes, answers each line with `said`, and ends at
 * `exit`.
 */
export function fakeTerminal({ columns, rows }: ShellWish, signal: AbortSignal): Terminal {
  if (columns === 0) return fakeCommand(signal)
  let typed = ''
  const print = (text: string): void => void stream.push(`${text}\r\n`)
  const stream = new Duplex({
    read() {},
    write(chunk, _encoding, done) {
      typed += String(chunk)
      const lines = typed.split(/\r?\n|\r/)
      typed = lines.pop() ?? ''
      for (const line of lines) {
        if (line === 'exit') stream.push(null)
        else print(`said ${line}`)
      }
      done()
    },
  })
  endWith(stream, signal)
  print(`size ${columns}x${rows}`)
  return { stream, resize: async (wide, high) => print(`size ${wide}x${high}`), exitCode: async () => 0 }
}

/** Answers every HTTP request with `ok`. */
export function fakeConnection(signal: AbortSignal): Duplex {
  const stream = new Duplex({
    read() {},
    write(chunk, _encoding, done) {
      if (String(chunk).includes('\r\n\r\n')) stream.push('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
      done()
    },
    final(done) {
      stream.push(null)
      done()
    },
  })
  endWith(stream, signal)
  return stream
}

function endWith(stream: Duplex, signal: AbortSignal): void {
  const onAbort = (): void => void stream.destroy()
  signal.addEventListener('abort', onAbort, { once: true })
  stream.once('close', () => signal.removeEventListener('abort', onAbort))
}
