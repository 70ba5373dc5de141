import { refuse } from './rules.ts'

/** The five fields of a timetable, each with its minimum, maximum and names. */
const fields = [
  { name: 'minute', least: 0, greatest: 59, names: [] },
  { name: 'hour', least: 0, greatest: 23, names: [] },
  { name: 'day of the month', least: 1, greatest: 31, names: [] },
  {
    name: 'month',
    least: 1,
    greatest: 12,
    names: ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'],
  },
  { name: 'day of the week', least: 0, greatest: 7, names: ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] },
] as const
const nicknames = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'])

/** Throws unless the string is a timetable that cron accepts: five fields, or one of its names. */
export function checkCron(field: string, text: string): void {
  if (nicknames.has(text.trim())) return
  const parts = text.trim().split(/\s+/)
  if (parts.length !== fields.length) refuse(field, 'must have five fields, such as "0 4 * * *"')
  for (const [index, part] of parts.entries()) {
    const known = fields[index]
    if (known && !part.split(',').every((piece) => isPiece(piece, known))) {
      refuse(field, `has an invalid ${known.name}: "${part}"`)
    }
  }
}

type Field = (typeof fields)[number]

/** Returns whether a part is a number, a name, a range or `*`, each with an optional step. */
function isPiece(piece: string, field: Field): boolean {
  const [, range = '', step] = /^([^/]+)(?:\/(\d{1,4}))?$/.exec(piece) ?? []
  if (range === '' || step === '0') return false
  if (range === '*') return true
  const ends = range.split('-').map((end) => numberOf(end, field))
  const [first, last = first] = ends
  if (ends.length > 2 || first === undefined || last === undefined) return false
  return first <= last && first >= field.least && last <= field.greatest
}

function numberOf(text: string, { names, least }: Field): number | undefined {
  if (/^\d{1,4}$/.test(text)) return Number(text)
  const known: readonly string[] = names
  const index = known.indexOf(text.toUpperCase())
  return index === -1 ? undefined : index + least
}
