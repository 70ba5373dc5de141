/** Control characters would move the cursor, break the line or give the terminal commands. */
const control = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/**
 * Pure: formats a JSON line of the log as a short line for a terminal. The reason and the remedy
 * come last, the stack of its error below.
 */
export function textLine(json: string): string {
  const { level, time, msg, err, ...details } = JSON.parse(json) as Record<string, unknown>
  const words = [
    new Date(String(time)).toTimeString().slice(0, 8),
    ...(level === 'info' ? [] : [String(level).toUpperCase()]),
    capitalized(String(msg ?? '')),
    ...Object.entries(details)
      .filter(([, value]) => !isSentence(value))
      .map(detail),
    ...Object.values(details).filter(isSentence),
  ]
  return [words.join('  '), ...stackOf(err).map((line) => `    ${line.trim()}`)]
    .map((line) => `${line.replaceAll(control, '?')}\n`)
    .join('')
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

function stackOf(error: unknown): string[] {
  if (!isRecord(error)) return []
  const lines = String(error['stack'] ?? '').split('\n')
  const cause = stackOf(error['cause'])
  return [...lines, ...(cause.length > 0 ? ['Caused by:', ...cause] : [])].filter(Boolean)
}

const isSentence = (value: unknown): value is string =>
  typeof value === 'string' && /^\p{Lu}/u.test(value) && value.includes(' ') && value.endsWith('.')

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

function detail([name, value]: [string, unknown]): string {
  if (name === 'ms') return `(${(Number(value) / 1000).toFixed(1)} s)`
  return `${name}=${typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)}`
}
