import { printable } from '../../../lib/text.ts'

/** Longer texts of an API server are cut. */
const longestText = 1_000

/**
 * Returns a text of an API server as one line that a database keeps and a terminal may show. The
 * server belongs to somebody else, and repeats what its users wrote.
 */
export const plain = (text: string): string =>
  printable(text.slice(0, longestText).toWellFormed().replace(/\s+/g, ' ')).trim()
