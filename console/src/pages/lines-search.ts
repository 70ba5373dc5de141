/** The part of an address that chooses lines. */
export interface LinesSearch {
  /** A text for which the server looks in all stored lines. */
  readonly text?: string
  /** The execution that started the program. */
  readonly deployment?: string
  /** The name of a line. The lines before it are shown. */
  readonly line?: string
}

const names = ['text', 'deployment', 'line'] as const

/** Pure: reads the search of an address, which anybody may have written. */
export const linesSearchOf = (given: Record<string, unknown>): LinesSearch =>
  Object.fromEntries(
    names.flatMap((name) => (given[name] === undefined ? [] : ([[name, String(given[name])]] as const))),
  )
