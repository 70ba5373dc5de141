/** Control characters would move the cursor, break the line or give the terminal commands. */
const control = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** Pure: a JSON line of the log as a short line for a terminal, with the stack of its error below. */
export function textLine(json: string): string {
  const { level, time, msg, err, ...details } = JSON.parse(json) as Record<string, unknown>
  const error = isRecord(err) ? err : undefined
  const words = [
    String(time).slice(11, 19),
    ...(level === 'info' ? [] : [String(level).toUpperCase()]),
    capitalized(String(msg ?? error?.['message'] ?? '')),
    ...Object.entries(details).map(detail),
  ]
  const stack = String(error?.['stack'] ?? '').split('\n')
  return [words.join('  '), ...stack.filter(Boolean).map((line) => `    ${line.trim()}`)]
    .map((line) => `${line.replaceAll(control, '?')}\n`)
    .join('')
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

function detail([name, value]: [string, unknown]): string {
  if (name === 'ms') return `(${(Number(value) / 1000).toFixed(1)} s)`
  return `${name}=${typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)}`
}
