import { monotonic, timestamp } from './clock.ts'

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>

/**
 * Writes JSON lines. The same message about the same endpoint or host is written at most once in
 * ten seconds. `leftOut` counts the skipped lines.
 */
export interface Log {
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

const quietMs = 10_000
const rememberedMessages = 1_000

/** Creates a log that passes each finished line to `write`. */
export function createLog(write: (line: string) => void): Log {
  const last = new Map<string, { at: number; leftOut: number }>()
  const line = (level: string, message: string, fields: LogFields = {}): void => {
    const key = `${message} ${fields['endpoint'] ?? fields['host'] ?? ''}`
    const previous = last.get(key)
    const now = monotonic()
    if (previous && now - previous.at < quietMs) {
      previous.leftOut++
      return
    }
    if (last.size >= rememberedMessages) last.clear()
    last.set(key, { at: now, leftOut: 0 })
    const leftOut = previous?.leftOut || undefined
    write(`${JSON.stringify({ level, time: timestamp(), ...fields, leftOut, msg: message })}\n`)
  }
  return {
    info: (message, fields) => line('info', message, fields),
    warn: (message, fields) => line('warn', message, fields),
    error: (message, fields) => line('error', message, fields),
  }
}

export const silentLog: Log = createLog(() => {})

/** Returns the message of a thrown value, with its code. */
export function describe(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const code = codeOf(thrown)
  return code && !thrown.message.includes(code) ? `${thrown.message} (${code})` : thrown.message
}

/** Returns the `code` that Node and undici put on their errors. */
export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined
}
