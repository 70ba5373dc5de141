import type { Fragment, Sql } from '../database/index.ts'

type Value = string | readonly string[]

/** A statement whose text was composed of fragments once; only its values differ from call to call. */
export interface ComposedStatement {
  readonly text: string
  /** The values of the placeholders, in their order, for these values of the parameters. */
  values(...parameters: readonly Value[]): Value[]
}

/** What a template tag was called with. */
interface Piece {
  readonly strings: readonly string[]
  readonly values: readonly unknown[]
}

const columnMark = '\0column '

/** Stands for a column where a fragment takes a value: the fragment then reads it from the statement around it. */
export const column = (name: string): string => `${columnMark}${name}`

/**
 * Composes a statement now that the driver would otherwise compose at every call, which costs more than all the rest of a
 * small read. `compose` is called once, with a stand-in for each of its parameters.
 */
export function composeStatement(
  parameters: number,
  compose: (sql: Sql, ...parameters: readonly string[]) => Fragment,
): ComposedStatement {
  const standIns = Array.from({ length: parameters }, (_, place) => `\0parameter ${place}`)
  const tag = (strings: readonly string[], ...values: readonly unknown[]): Piece => ({ strings, values })
  // Composing calls nothing but the tag, and what the tag gives is read here alone.
  const whole = compose(tag as unknown as Sql, ...standIns) as unknown as Piece
  const placeholders: string[] = []
  const text = write(whole, placeholders)
  const places = placeholders.map((value) => standIns.indexOf(value))
  return {
    text,
    values: (...given) => placeholders.map((value, index) => given[places[index] ?? -1] ?? value),
  }
}

function write({ strings, values }: Piece, placeholders: string[]): string {
  return strings.reduce((text, next, index) => {
    const value = values[index - 1]
    if (typeof value !== 'string') {
      // Everything that is no text was given by the tag.
      return `${text}${write(value as Piece, placeholders)}${next}`
    }
    if (value.startsWith(columnMark)) return `${text}${value.slice(columnMark.length)}${next}`
    return `${text}$${placeholders.push(value)}${next}`
  })
}
