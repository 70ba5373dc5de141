import { AppError } from '../lib/error.ts'
import { parseId } from '../lib/id.ts'
import type { Cursor } from './event-store.ts'

/** The position of a row as a client sends it back: its time and its id. */
export const cursorOf = ({ created_at, id }: Cursor): string => `${created_at.getTime()}_${id}`

export function readCursor(name: string, text: string | undefined): Cursor | undefined {
  if (text === undefined) return undefined
  const [, ms = '', given = ''] = /^(\d{1,15})_([0-9a-f-]{36})$/.exec(text) ?? []
  const id = parseId(given)
  if (id) return { created_at: new Date(Number(ms)), id }
  throw new AppError('invalid', `${name} must be a token from a previous page.`)
}

/**
 * Returns the rows of a page, newest first, and whether older and newer rows exist. `found` has one
 * row more than the page if there is one. Rows newer than a cursor are passed oldest first.
 */
export function pageOf<T>(found: readonly T[], limit: number, way: 'first' | 'older' | 'newer') {
  const more = found.length > limit
  const rows = found.slice(0, limit)
  if (way === 'newer') return { rows: rows.reverse(), older: true, newer: more }
  return { rows, older: more, newer: way === 'older' }
}
