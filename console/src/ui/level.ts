/** How serious a line is, as its own text says. */
export const levels = ['error', 'warning', 'info', 'debug', 'other'] as const
export type Level = (typeof levels)[number]

const names: Readonly<Record<string, Level>> = {
  fatal: 'error',
  panic: 'error',
  critical: 'error',
  error: 'error',
  err: 'error',
  warning: 'warning',
  warn: 'warning',
  info: 'info',
  notice: 'info',
  debug: 'debug',
  trace: 'debug',
}
const words = /\b(?:fatal|panic|critical|error|err|warning|warn|info|notice|debug|trace)\b/i
/** Programs that print JSON often use the numbers of pino: 30 is information, 50 an error. */
const numbered = /"level":\s?(\d{2})\b/
/** A level is near the beginning. Later words are part of the message. */
const longestPrefix = 120

/** Pure: reads the level of a line. The first word that names one counts. */
export function levelOf(text: string): Level {
  const beginning = text.slice(0, longestPrefix)
  const number = Number(numbered.exec(beginning)?.[1])
  if (number >= 10) return number >= 50 ? 'error' : number >= 40 ? 'warning' : number >= 30 ? 'info' : 'debug'
  const word = words.exec(beginning)?.[0].toLowerCase()
  return (word && names[word]) || 'other'
}
