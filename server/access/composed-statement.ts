import type { Fragment, Sql } from '../database/index.ts'

type Value = string | readonly string[]

/** A statement that is composed of fragments once. Only its values differ between calls. */
export interface ComposedStatement {
  readonly text: string
  /** Returns the values of the placeholders, in order, for these parameters. */
  values(...parameters: readonly Value[]): Value[]
}

/** The arguments of a template tag. */
interface Piece {
  readonly strings: readonly string[]
  readonly values: readonly unknown[]
}

const columnMark = '\0column '

/**
 * Stands for a column in place of a value. The fragment then reads it from the enclosing statement.
 */
export const column = (name: string): string => `${columnMark}${name}`

/**
 * Composes a statement once. The driver would compose it on every call, which costs more than the
 * rest of a small read. `compose` is called once, with a placeholder for each of its parameters.
 */
export function composeStatement(
  parameters: number,
  compose: (sql: Sql, ...parameters: readonly string[]) => Fragment,
): ComposedStatement {
  const standIns = Array.from({ length: parameters }, (_, place) => `\0parameter ${place}`)
  const tag = (strings: readonly string[], ...values: readonly unknown[]): Piece => ({ strings, values })
  // `compose` calls only the tag, and only this function reads its results.
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
      // Everything except text comes from the tag.
      return `${text}${write(value as Piece, placeholders)}${next}`
    }
    if (value.startsWith(columnMark)) return `${text}${value.slice(columnMark.length)}${next}`
    return `${text}$${placeholders.push(value)}${next}`
  })
}
