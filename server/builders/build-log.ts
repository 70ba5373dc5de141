import type { LineSink } from '../lib/attempt.ts'

const maxLineBytes = 16 * 1024
const newline = 0x0a

/** Splits a stream of bytes into lines of at most 16 kB. */
export interface LineSplitter {
  write(bytes: Buffer): void
  /** Emits the rest after the last line break. */
  end(): void
}

export function splitLines(emit: (line: string) => void): LineSplitter {
  let pending: Buffer[] = []
  let pendingBytes = 0
  let cut = false
  const keep = (bytes: Buffer): void => {
    const room = maxLineBytes - pendingBytes
    if (bytes.length > room) cut = true
    if (room <= 0 || bytes.length === 0) return
    pending.push(bytes.subarray(0, room))
    pendingBytes += Math.min(room, bytes.length)
  }
  const flush = (): void => {
    // PostgreSQL cannot store NUL.
    const text = Buffer.concat(pending).toString('utf8').replace(/\r$/, '').replaceAll('\0', '\uFFFD')
    emit(cut ? `${text} [line cut at 16 kB]` : text)
    pending = []
    pendingBytes = 0
    cut = false
  }
  return {
    write(bytes) {
      let from = 0
      for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, from)) {
        keep(bytes.subarray(from, at))
        flush()
        from = at + 1
      }
      // Copied, because the caller's buffer may be a view of a far larger one.
      keep(Buffer.from(bytes.subarray(from, from + maxLineBytes + 1)))
    },
    end() {
      if (pendingBytes > 0) flush()
    },
  }
}

/** Passes on `maxBytes` of lines, then writes one warning and drops the rest. */
export function capLog(output: LineSink, maxBytes: number): LineSink {
  let left = maxBytes
  return {
    line(text, level) {
      if (left < 0) return
      left -= Buffer.byteLength(text) + 1
      if (left >= 0) output.line(text, level)
      else output.line(`[log cut at ${sizeText(maxBytes)}; the build continues]`, 'warning')
    },
  }
}

function sizeText(bytes: number): string {
  if (bytes >= 1e6) return `${Math.round(bytes / 1e6)} MB`
  return bytes >= 1000 ? `${Math.round(bytes / 1000)} kB` : `${bytes} bytes`
}
